/** The tables as they were before migration 0032. */
export const UNDO_MADE_BY_SESSIONS: readonly string[] = [
  'drop index sign_in_links_id',
  'alter table sign_in_links drop column id',
  'alter table sign_in_links drop column revoked_at',
  'alter table sign_in_links drop column maker_session_id',
  'alter table sessions drop column maker_session_id',
  "delete from kysely_migration where name = '0032-made-by-sessions'",
];
