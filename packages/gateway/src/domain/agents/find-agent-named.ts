import type { Kysely } from 'kysely';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import { EVERYTHING, inView, type View } from '../projects/view.ts';
import { isOrdinary } from './tool-caller.ts';

/** Finds an agent that the caller can see, by id or name; without either, the only agent. Throws 404, or 422 if several match. */
export async function findAgentNamed(
  db: Kysely<Tables>,
  nameOrId: string | undefined,
  view: View = EVERYTHING,
): Promise<AgentRow> {
  if (nameOrId !== undefined && !isId(nameOrId)) throw notFound('agent', nameOrId.slice(0, 100));
  const rows = await candidates(db, nameOrId, view);
  const byId = rows.find(({ id }) => id === nameOrId);
  const [first, second] = byId === undefined ? rows : [byId];
  if (first === undefined) throw notFound('agent', nameOrId ?? '');
  if (second === undefined) return first;
  throw invalid(
    'agent',
    nameOrId === undefined
      ? 'is required: there are several agents.'
      : `"${nameOrId}" is the name of several agents: use the id.`,
  );
}

/** Two are enough to know that there are several. */
async function candidates(db: Kysely<Tables>, nameOrId: string | undefined, view: View): Promise<readonly AgentRow[]> {
  const visible = chatAgents(db).where(inView(view, 'agents'));
  if (nameOrId === undefined) return await visible.limit(2).execute();
  const byId = (await findById(db, { nameOrId })).filter((one) => isVisible(one, view));
  return byId.length > 0 ? byId : await visible.where('name', '=', nameOrId).limit(2).execute();
}

const chatAgents = (db: Kysely<Tables>) =>
  db.selectFrom('agents').select(COLUMNS.agents).where('status', '!=', 'deleted').where(isOrdinary);

const findById = statement((db, { nameOrId }: Params<{ nameOrId: string }>) =>
  chatAgents(db).where('id', '=', nameOrId),
);

/** The same as `inView`, for a row that was found by a statement that is planned once. */
function isVisible({ id, project_id }: AgentRow, { project = project_id, agents }: View): boolean {
  return project === project_id && agents?.includes(id) !== false;
}
