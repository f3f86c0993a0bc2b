import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { isId } from '../entities/column-text.ts';
import { inView, isNarrow, throughAgents, type View } from './view.ts';

/** What an id in a request can name. Each is in a project itself, or belongs to an agent that is. */
export type Named =
  | 'agent'
  | 'space'
  | 'entity'
  | 'key'
  | 'MCP tool'
  | 'artifact'
  | 'call'
  | 'job'
  | 'waiting call'
  | 'run'
  | 'evaluation';

type Lookup = (db: Kysely<Tables>, id: string, view: View) => { executeTakeFirst(): Promise<unknown> };

/** False for what is not in the view, and for what does not exist. */
export async function isVisible(
  db: Kysely<Tables>,
  { kind, id }: { readonly kind: Named; readonly id: string },
  view: View,
): Promise<boolean> {
  if (!isId(id)) return false;
  return (await LOOKUPS[kind](db, id, view).executeTakeFirst()) !== undefined;
}

const call: Lookup = (db, id, view) =>
  db.selectFrom('calls').select('id').where('id', '=', id).where(throughAgents(view, 'calls.agent_id'));

const LOOKUPS: Readonly<Record<Named, Lookup>> = {
  agent: (db, id, view) => db.selectFrom('agents').select('id').where('id', '=', id).where(inView(view, 'agents')),
  space: (db, id, view) => db.selectFrom('spaces').select('id').where('id', '=', id).where(inView(view, 'spaces')),
  entity: (db, id, view) => db.selectFrom('entities').select('id').where('id', '=', id).where(inView(view, 'entities')),
  key: (db, id, view) => db.selectFrom('api_keys').select('id').where('id', '=', id).where(inView(view, 'api_keys')),
  'MCP tool': (db, id, view) =>
    db.selectFrom('mcp_tools').select('id').where('id', '=', id).where(inView(view, 'mcp_tools')),
  artifact: (db, id, view) =>
    db
      .selectFrom('artifacts')
      .select('id')
      .where('id', '=', id)
      .where((eb) =>
        eb.or([
          eb.and([eb('agent_id', 'is not', null), throughAgents(view, 'artifacts.agent_id')]),
          eb.and([eb('agent_id', 'is', null), ofUploads(view)]),
        ]),
      ),
  evaluation: (db, id, view) =>
    db.selectFrom('evaluations').select('id').where('id', '=', id).where(inView(view, 'evaluations')),
  call,
  job: call,
  'waiting call': call,
  /** A run that has not begun is known by the events that it will take. */
  run: (db, id, view) =>
    db
      .selectFrom('threads')
      .select('threads.id')
      .where(throughAgents(view, 'threads.agent_id'))
      .where(
        sql<boolean>`threads.id = coalesce(
          (select thread_id from runs where runs.id = ${id}),
          (select thread_id from inbox_events where inbox_events.run_id = ${id} limit 1),
          (select context_id from turn_requests where turn_requests.run_id = ${id} limit 1))`,
      ),
};

/** An upload belongs to the project of its uploader. A view of certain spaces has those that are in them. */
function ofUploads(view: View): RawBuilder<SqlBool> {
  if (isNarrow(view)) return sql`artifacts.space_id in (select id from spaces where ${inView(view, 'spaces')})`;
  return view.project === undefined ? sql`1 = 1` : sql`artifacts.project_id = ${view.project}`;
}
