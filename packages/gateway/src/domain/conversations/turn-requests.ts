import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';

/** Identifies a request when it is sent again. */
export interface RequestIdentity {
  /** The value of the `Idempotency-Key` header. */
  readonly key?: string | undefined;
  /** A hash of the request's path and body. */
  readonly bodyHash: string;
  /** A hash of the conversation, if the client sent all of it: `findByConversation` finds the turn that answered it. */
  readonly conversationHash?: string | undefined;
}

export interface StartedTurn {
  readonly runId: string;
  readonly contextId: string;
}

/**
 * Stores a request. Returns the turn that the same request already started, if there is one: a second request at the same moment
 * waits here until the first is stored. Throws 422 if the key was used with another body.
 */
export async function noteRequest(
  tx: Tx,
  caller: string,
  { key, bodyHash, conversationHash }: RequestIdentity,
  { runId, contextId }: StartedTurn,
): Promise<StartedTurn | undefined> {
  const noted = await tx.db
    .insertInto('turn_requests')
    .values({
      run_id: runId,
      context_id: contextId,
      caller,
      idempotency_key: key ?? null,
      body_hash: bodyHash,
      conversation_hash: conversationHash ?? null,
      created_at: tx.now(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('run_id')
    .executeTakeFirst();
  return noted === undefined && key !== undefined ? await findByKey(tx.db, { caller, key, bodyHash }) : undefined;
}

/** The turn that a request with this key started. Throws 422 if it had another body. */
export async function findByKey(
  db: Kysely<Tables>,
  { caller, key, bodyHash }: { caller: string; key: string; bodyHash: string },
): Promise<StartedTurn | undefined> {
  const before = await db
    .selectFrom('turn_requests')
    .selectAll()
    .where('caller', '=', caller)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
  if (before === undefined) return undefined;
  if (before.body_hash !== bodyHash)
    throw new ApiError('idempotency_key_reused', 'This Idempotency-Key was used for another request.');
  return { runId: before.run_id, contextId: before.context_id };
}

/** Removes the request that was stored in this transaction, because it started nothing. */
export async function forgetRequest(tx: Tx, { runId }: StartedTurn): Promise<void> {
  await tx.db.deleteFrom('turn_requests').where('run_id', '=', runId).execute();
}

export interface NotedTurn extends StartedTurn {
  readonly key: string | null;
  readonly notedAt: number;
}

/** The newest turn that a request with this body started, for clients that repeat a request without a key. */
export async function findByBody(
  db: Kysely<Tables>,
  { caller, bodyHash, since }: { caller: string; bodyHash: string; since: number },
): Promise<NotedTurn | undefined> {
  const row = await db
    .selectFrom('turn_requests')
    .select(['run_id as runId', 'context_id as contextId', 'idempotency_key as key', 'created_at as notedAt'])
    .where('caller', '=', caller)
    .where('body_hash', '=', bodyHash)
    .where('created_at', '>=', since)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row;
}

/**
 * The turns that were requested with exactly this conversation. Returns none if there are too many to tell which one is meant.
 */
export async function findByConversation(
  db: Kysely<Tables>,
  { caller, conversationHash }: { caller: string; conversationHash: string },
): Promise<readonly StartedTurn[]> {
  const turns = await db
    .selectFrom('turn_requests')
    .select(['run_id as runId', 'context_id as contextId'])
    .where('caller', '=', caller)
    .where('conversation_hash', '=', conversationHash)
    .limit(MOST_CANDIDATES + 1)
    .execute();
  return turns.length > MOST_CANDIDATES ? [] : turns;
}

/** Several people may begin with the same words. All candidates have to be checked: one that is left out may be the right one. */
const MOST_CANDIDATES = 5;

/** The turn with this run, if it was requested by this caller. */
export async function findOwnTurn(db: Kysely<Tables>, caller: string, runId: string): Promise<StartedTurn | undefined> {
  return await db
    .selectFrom('turn_requests')
    .select(['run_id as runId', 'context_id as contextId'])
    .where('run_id', '=', runId)
    .where('caller', '=', caller)
    .executeTakeFirst();
}

/** The conversation that a run belongs to. The run may not have begun yet. */
export async function findConversationOfRun(
  db: Kysely<Tables>,
  runId: string,
): Promise<{ readonly contextId: string } | undefined> {
  const begun = db.selectFrom('runs').select('thread_id as contextId');
  const noted = db.selectFrom('turn_requests').select('context_id as contextId');
  return (
    (await begun.where('id', '=', runId).executeTakeFirst()) ??
    (await noted.where('run_id', '=', runId).executeTakeFirst())
  );
}

/**
 * The first run that this caller has requested with a key with this beginning. LIKE is not used, because an underscore would match any
 * character.
 */
export async function firstRunWithKeyPrefix(
  db: Kysely<Tables>,
  caller: string,
  beginning: string,
): Promise<string | undefined> {
  const requests = db.selectFrom('turn_requests').select('run_id').where('caller', '=', caller);
  const known = requests.where(sql<string>`substr(idempotency_key, 1, ${sql.lit(beginning.length)})`, '=', beginning);
  return (await known.orderBy('created_at').orderBy('run_id').limit(1).executeTakeFirst())?.run_id;
}
