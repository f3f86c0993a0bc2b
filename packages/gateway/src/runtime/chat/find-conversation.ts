import type { Kysely } from 'kysely';
import { findAnswer } from '../../domain/conversations/run-answer.ts';
import { findByConversation, type StartedTurn } from '../../domain/conversations/turn-requests.ts';
import { countWaiting } from '../../domain/inbox/inbox-capacity.ts';
import { lockRows } from '../../ports/store/lock-rows.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { callerId } from './start-turn.ts';
import type { TurnCaller } from './turn-request.ts';

export interface ToldBefore {
  readonly caller: TurnCaller;
  /** The hash of the conversation up to the last reply. */
  readonly conversationHash: string;
  /** The last reply, as the client sent it. */
  readonly lastReply: string;
}

/**
 * Finds the stored conversation that has exactly these messages and ended with this reply, so that it can continue there, with the
 * results of its tools. Returns undefined if the conversation is unknown or has continued since, and if two conversations
 * match: then it is ambiguous.
 */
export async function findConversation(tx: Tx, told: ToldBefore): Promise<string | undefined> {
  const { caller, conversationHash, lastReply } = told;
  const candidates = await findByConversation(tx.db, { caller: callerId(caller), conversationHash });
  if (candidates.length === 0) return undefined;
  // If two requests continue the conversation at once, the second one finds that it has continued.
  await lockRows(tx, { threads: candidates.map(({ contextId }) => contextId) });
  const found: string[] = [];
  for (const turn of candidates)
    if ((await isLast(tx.db, turn)) && (await wasAnsweredWith(tx.db, turn, lastReply))) found.push(turn.contextId);
  return found.length === 1 ? found[0] : undefined;
}

/** True if the turn's run has ended, and its messages are part of the conversation. */
export async function isSaved(db: Kysely<Tables>, { runId }: StartedTurn): Promise<boolean> {
  const run = await db.selectFrom('runs').select(['status', 'answer']).where('id', '=', runId).executeTakeFirst();
  return run !== undefined && run.status !== 'running' && run.answer === null;
}

/** True if nothing was added to the conversation after this turn. */
export async function isLast(db: Kysely<Tables>, { runId, contextId }: StartedTurn): Promise<boolean> {
  const last = await db
    .selectFrom('runs')
    .select(['id', 'status'])
    .where('thread_id', '=', contextId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.id === runId && last.status !== 'running' && (await countWaiting(db, contextId)) === 0;
}

/**
 * A stream also contains what the model wrote before its calls, so the client's reply may have more text at the start.
 */
async function wasAnsweredWith(db: Kysely<Tables>, { runId }: StartedTurn, reply: string): Promise<boolean> {
  const answer = await findAnswer(db, runId);
  if (answer === undefined || answer.status !== 'completed' || !answer.isSaved) return false;
  const response = answer.response.trim();
  return response === '' ? reply.trim() === '' || answer.pending.length > 0 : reply.trim().endsWith(response);
}
