import type { Kysely, Selectable, SelectQueryBuilder } from 'kysely';
import { insertRow } from '../../ports/store/insert-row.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { ContextRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { getAgent } from '../agents/agent.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Metadata, toMetadata } from '../entities/metadata.ts';
import { newId } from '../new-id.ts';
import { idTaken } from '../own-id.ts';
import { meantIds, shownContextId } from './own-context-id.ts';
import { usableBy } from './usable-by.ts';

/** A conversation with an agent. Its thread has the same id. */
export interface Context {
  readonly id: string;
  readonly agentId: string;
  /** The entity that may use it with its token. Without one, only keys may. */
  readonly ownerId?: string;
  readonly metadata: Metadata;
  readonly createdAt: number;
  /** True if it is deleted sooner than others: see sweep-contexts.ts. */
  readonly isBrief: boolean;
}

export interface NewContext {
  /** An id from `newContextId`. Default: a new one. */
  readonly id?: string | undefined;
  readonly agentId: string;
  readonly ownerId?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** True if it is created for one call, or for an answer that is not saved. */
  readonly isBrief?: boolean;
  /** True if the owner may use it without sharing a space with the agent. */
  readonly isGiven?: boolean;
}

/** Who uses a context: the holder of a key may use all of them, an entity only its own. */
export type ContextUser = { readonly kind: 'key' } | { readonly kind: 'entity'; readonly entityId: string };

/** Creates a context and its thread. Throws 404 without the agent, and 409 if the id is taken. */
export async function createContext(tx: Tx, wanted: NewContext): Promise<Context> {
  await getAgent(tx.db, wanted.agentId);
  return await insertContext(tx, wanted);
}

/** The same, for an agent that was already looked up. */
export async function insertContext(tx: Tx, wanted: NewContext): Promise<Context> {
  const { id = newId(tx.now()), agentId, ownerId, metadata, isBrief = false, isGiven = false } = wanted;
  const [thread] = await insertThread(tx.db, { id, agentId, epoch: firstEpoch(tx) });
  if (thread === undefined) throw idTaken(shownContextId(id, { kind: 'entity', entityId: ownerId }));
  const row = {
    id,
    agent_id: agentId,
    owner_id: ownerId ?? null,
    metadata: toMetadata(metadata),
    created_at: tx.now(),
    is_brief: isBrief ? (1 as const) : (0 as const),
    used_at: tx.now(),
    is_given: isGiven ? (1 as const) : (0 as const),
  };
  tx.send(insertContextRow, row);
  return toContext(row);
}

/**
 * An id may be used again after its context was deleted. A gateway that still caches the old thread must not take it for this
 * one.
 */
function firstEpoch(tx: Tx): number {
  return tx.now();
}

const insertContextRow = insertRow('contexts');

const insertThread = statement((db, { id, agentId, epoch }: Params<{ id: string; agentId: string; epoch: number }>) =>
  db
    .insertInto('threads')
    .values({ id, kind: 'context', agent_id: agentId, lease_owner: null, lease_until: 0, epoch, state: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id'),
);

/** Throws 404 for a context that does not exist, and for one that the user may not use, or no longer. */
export async function getContext(db: Kysely<Tables>, contextId: string, user: ContextUser): Promise<Context> {
  return await readContext(selectContext(db, contextId, user), contextId);
}

/** The same for a request that adds a message: the context is not deleted before the commit. */
export async function getContextForUse(tx: Tx, contextId: string, user: ContextUser): Promise<Context> {
  const row = selectContext(tx.db, contextId, user);
  return await readContext(tx.dialect === 'sqlite' ? row : row.forKeyShare('threads'), contextId);
}

/** Undefined if the context was deleted. */
export async function agentOfContext(db: Kysely<Tables>, contextId: string): Promise<string | undefined> {
  const contexts = db.selectFrom('contexts').select('agent_id').where('id', '=', contextId);
  return (await contexts.executeTakeFirst())?.agent_id;
}

type SelectedContext = SelectQueryBuilder<Tables, 'contexts' | 'threads', Selectable<ContextRow>>;

function selectContext(db: Kysely<Tables>, contextId: string, user: ContextUser): SelectedContext {
  const contexts = db.selectFrom('contexts').innerJoin('threads', 'threads.id', 'contexts.id').selectAll('contexts');
  if (user.kind === 'key') return contexts.where('contexts.id', '=', contextId);
  const meant = contexts.where('contexts.id', 'in', meantIds(contextId, user.entityId));
  // If both exist, the longer id is the one that the entity chose itself.
  return meant.where(usableBy(user.entityId)).orderBy('contexts.id', 'desc');
}

async function readContext(query: SelectedContext, contextId: string): Promise<Context> {
  const row = isId(contextId) ? await query.executeTakeFirst() : undefined;
  if (row === undefined) throw notFound('context', contextId);
  return toContext(row);
}

/** Keeps the context for the full time, because a message in it is saved. */
export async function keepLonger(tx: Tx, { id, isBrief }: Context): Promise<void> {
  if (isBrief) await tx.db.updateTable('contexts').set({ is_brief: 0 }).where('id', '=', id).execute();
}

function toContext(row: Selectable<ContextRow>): Context {
  return {
    id: row.id,
    agentId: row.agent_id,
    ...(row.owner_id === null ? {} : { ownerId: row.owner_id }),
    metadata: fromJson<Metadata>(row.metadata),
    createdAt: row.created_at,
    isBrief: row.is_brief === 1,
  };
}
