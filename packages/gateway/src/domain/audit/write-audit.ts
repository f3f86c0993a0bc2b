import { type RawBuilder, sql } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import type { AuditRow } from '../../ports/store/schema/tables.ts';
import { givenTable, givenValue } from '../../ports/store/several.ts';
import { type Params, type Statement, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { newId } from '../new-id.ts';
import type { AuditActor, AuditKind, AuditSubject } from './audit-entry.ts';

export interface NewAuditEntry {
  /** The project that it belongs to, or the thing whose project that is. */
  readonly project: string | AuditSubject;
  readonly actor: AuditActor;
  readonly action: string;
  readonly subject?: AuditSubject | undefined;
  readonly address: string;
  readonly requestId: string | undefined;
  readonly status: number;
}

/**
 * Adds an entry to the transaction of the change that it tells of: both are stored, or neither. It does not wait for an answer of the
 * database. Nothing changes entries, and only `sweepAudit` deletes them.
 */
export function writeAudit(tx: Tx, entry: NewAuditEntry): void {
  const { project, actor, subject } = entry;
  const isKnown = typeof project === 'string';
  tx.send(isKnown ? insertKnown : insertWithProjectOf(project.kind), {
    id: newId(tx.now()),
    at: tx.now(),
    project_id: isKnown ? project : project.id,
    key_id: actor.keyId ?? null,
    session_id: actor.sessionId ?? null,
    entity_id: actor.entityId ?? null,
    action: entry.action,
    subject_kind: subject?.kind ?? null,
    subject_id: subject?.id ?? null,
    address: entry.address === '' ? null : entry.address,
    request_id: entry.requestId ?? null,
    status: entry.status,
  });
}

type ProjectLookup = (id: RawBuilder<unknown>) => RawBuilder<unknown>;

const own =
  (table: string): ProjectLookup =>
  (id) =>
    sql`select project_id from ${sql.table(table)} where id = ${id}`;

const throughAgent =
  (table: string): ProjectLookup =>
  (id) =>
    sql`select project_id from agents where id = (select agent_id from ${sql.table(table)} where id = ${id})`;

/** How the project of a thing is found. For the others it is the default project. */
const LOOKUPS: { readonly [K in AuditKind]?: ProjectLookup } = {
  agent: own('agents'),
  space: own('spaces'),
  entity: own('entities'),
  tool: own('tools'),
  'MCP tool': own('mcp_tools'),
  key: own('api_keys'),
  evaluation: own('evaluations'),
  call: throughAgent('calls'),
  grant: throughAgent('grants'),
  conversation: throughAgent('contexts'),
  run: (id) => sql`select project_id from agents where id = (select agent_id from threads where id = coalesce(
    (select thread_id from runs where runs.id = ${id}),
    (select thread_id from inbox_events where inbox_events.run_id = ${id} limit 1)))`,
};

const insertKnown: Statement<AuditRow, unknown> = insertEntry((id) => id);
const inserts = new Map<AuditKind, Statement<AuditRow, unknown>>();

function insertWithProjectOf(kind: AuditKind): Statement<AuditRow, unknown> {
  const known = inserts.get(kind);
  if (known !== undefined) return known;
  const lookup = LOOKUPS[kind];
  const made = insertEntry((id) =>
    lookup === undefined ? sql.lit(DEFAULT_PROJECT) : sql`coalesce((${lookup(id)}), ${sql.lit(DEFAULT_PROJECT)})`,
  );
  inserts.set(kind, made);
  return made;
}

/** Posts to several spaces may share it: see postgres-group.ts. */
function insertEntry(toProject: ProjectLookup): Statement<AuditRow, unknown> {
  const columns = COLUMNS.audit;
  const names = sql.join(columns.map((name) => sql.id(name)));
  const toColumn = (name: keyof AuditRow, value: RawBuilder<unknown>) =>
    name === 'project_id' ? toProject(value) : value;
  const typeOf = (name: keyof AuditRow) => (name === 'at' || name === 'status' ? 'bigint' : 'text');
  return statement(
    (_db, params: Params<AuditRow>) =>
      sql`insert into audit (${names}) values (${sql.join(columns.map((name) => toColumn(name, sql`${params[name]}`)))})`,
    {
      toValues: (all) => Object.fromEntries(columns.map((name) => [name, all.map((row) => row[name])])),
      build(_db, arrays: Params<Readonly<Record<string, unknown[]>>>) {
        const given = columns.map((name) => ({ name, array: arrays[name] as never, type: typeOf(name) }));
        const values = columns.map((name) => toColumn(name, givenValue(name)));
        return sql`insert into audit (${names}) select ${sql.join(values)} from ${givenTable(given)}`;
      },
    },
  );
}
