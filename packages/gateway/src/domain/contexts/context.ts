import type { Kysely } from 'kysely';
import { insertRow } from '../../ports/store/insert-row.ts';
import { fromJson } from '../../ports/store/json.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { ContextRow, Tables } from '../../ports/store/tables.ts';
import { getAgent } from '../agents/agent.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Metadata, toMetadata } from '../entities/metadata.ts';
import { newId } from '../new-id.ts';
import { idTaken, ownId } from '../own-id.ts';

/** A conversation with an agent. Its thread has the same id. */
export interface Context {
  readonly id: string;
  readonly agentId: string;
  /** The entity that may use it with its token. Without one, only keys may. */
  readonly ownerId?: string;
  readonly metadata: Metadata;
  readonly createdAt: number;
}

export interface NewContext {
  /** The caller's own id, 1–64 of `[A-Za-z0-9_-]`. Default: a new one. */
  readonly id?: string | undefined;
  readonly agentId: string;
  readonly ownerId?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

/** Who uses a context: the holder of a key may use all of them, an entity only its own. */
export type ContextUser = { readonly kind: 'key' } | { readonly kind: 'entity'; readonly entityId: string };

/** Creates a context and its thread. Throws 404 without the agent, and 409 if the id is taken. */
export async function createContext(tx: Tx, { id: given, agentId, ownerId, metadata }: NewContext): Promise<Context> {
  await getAgent(tx.db, agentId);
  return await insertContext(tx, { id: given, agentId, ownerId, metadata });
}

/** The same for an agent that was just found. */
export async function insertContext(tx: Tx, { id: given, agentId, ownerId, metadata }: NewContext): Promise<Context> {
  const id = given === undefined ? newId(tx.now()) : ownId(given);
  const [thread] = await insertThread(tx.db, { id, agentId });
  if (thread === undefined) throw idTaken(id);
  const row: ContextRow = {
    id,
    agent_id: agentId,
    owner_id: ownerId ?? null,
    metadata: toMetadata(metadata),
    created_at: tx.now(),
  };
  tx.send(insertContextRow, row);
  return toContext(row);
}

const insertContextRow = insertRow('contexts');

const insertThread = statement((db, { id, agentId }: Params<{ id: string; agentId: string }>) =>
  db
    .insertInto('threads')
    .values({ id, kind: 'context', agent_id: agentId, lease_owner: null, lease_until: 0, epoch: 0, state: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id'),
);

/** Throws 404 for a context that does not exist, and for one that the user must not know of. */
export async function getContext(db: Kysely<Tables>, contextId: string, user: ContextUser): Promise<Context> {
  const row = isId(contextId)
    ? await db.selectFrom('contexts').selectAll().where('id', '=', contextId).executeTakeFirst()
    : undefined;
  const isTheirs = user.kind === 'key' || row?.owner_id === user.entityId;
  if (row === undefined || !isTheirs) throw notFound('context', contextId);
  return toContext(row);
}

function toContext(row: ContextRow): Context {
  return {
    id: row.id,
    agentId: row.agent_id,
    ...(row.owner_id === null ? {} : { ownerId: row.owner_id }),
    metadata: fromJson<Metadata>(row.metadata),
    createdAt: row.created_at,
  };
}
