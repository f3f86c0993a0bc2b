import type { Kysely } from 'kysely';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';
import { TOOL_CALLER_ID } from './tool-caller.ts';

/** Finds an agent by id or name; without either, the only agent. Throws 404, or 422 if several match. */
export async function findAgentNamed(db: Kysely<Tables>, nameOrId: string | undefined): Promise<AgentRow> {
  if (nameOrId !== undefined && !isId(nameOrId)) throw notFound('agent', nameOrId.slice(0, 100));
  const rows = await candidates(db, nameOrId);
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
async function candidates(db: Kysely<Tables>, nameOrId: string | undefined): Promise<readonly AgentRow[]> {
  if (nameOrId === undefined) return await chatAgents(db).limit(2).execute();
  const byId = await findById(db, { nameOrId });
  return byId.length > 0 ? byId : await chatAgents(db).where('name', '=', nameOrId).limit(2).execute();
}

const chatAgents = (db: Kysely<Tables>) =>
  db.selectFrom('agents').select(COLUMNS.agents).where('status', '!=', 'deleted').where('id', '!=', TOOL_CALLER_ID);

const findById = statement((db, { nameOrId }: Params<{ nameOrId: string }>) =>
  chatAgents(db).where('id', '=', nameOrId),
);
