/** What undoes each of the newest migrations, the newest first. Add a line for every new one. */
const UNDO: readonly (readonly [migration: string, statements: readonly string[]])[] = [
  ['0034-takeovers-counted-anew', []],
  ['0033-agent-failures', ['drop table agent_failures']],
  [
    '0032-made-by-sessions',
    [
      'drop index sign_in_links_id',
      'alter table sign_in_links drop column id',
      'alter table sign_in_links drop column revoked_at',
      'alter table sign_in_links drop column maker_session_id',
      'alter table sessions drop column maker_session_id',
    ],
  ],
  ['0031-given-contexts', ['alter table contexts drop column is_given']],
  ['0030-gone-mcp-tools', ['drop index mcp_tools_gone', 'alter table mcp_tools drop column gone_at']],
  ['0028-asked-definitions', ['alter table pending_calls drop column asked_definition']],
];

/** Statements that make a database look as it did before this migration ran, so that opening it runs the migrations again. */
export function undoMigrationsFrom(first: string): readonly string[] {
  return UNDO.filter(([migration]) => migration >= first).flatMap(([migration, statements]) => [
    ...statements,
    `delete from kysely_migration where name = '${migration}'`,
  ]);
}
