import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { seededAgentId } from '../agents/agent-details.ts';
import { ApiError, notFound } from '../api-error.ts';
import { type AnswerEnd, answerCall } from '../calls/answer-call.ts';
import { ERASED } from '../erasure/mark.ts';
import { pushOwnServiceEvent } from '../inbox/push-service-event.ts';
import { comparable, type HookBody, type HookEvent } from './delivery.ts';
import type { Hook } from './hook.ts';

/** Puts the event into the inbox of the hook's agent, once for each id. Throws if the id was used for another body. */
export async function receiveEvent(
  tx: Tx,
  hook: Hook,
  { id, name, data }: HookEvent,
): Promise<{ readonly duplicate: boolean; readonly agentId: string }> {
  const agentId = await agentOf(tx, hook);
  const eventId = `hook:${hook.name}:${id}`;
  const pushed = { agentId, eventId, source: hook.name, name, data };
  const { duplicate } = await pushOwnServiceEvent(tx, pushed).catch((error: unknown) => {
    throw withoutAgent(error, hook);
  });
  if (duplicate) {
    const stored = await storedData(tx.db, agentId, eventId);
    // The body was erased, or was kept for long enough. The id still says that it was received.
    if (isErased(stored)) return { duplicate, agentId };
    if (!isDeepStrictEqual(comparable(hook.verify, stored), comparable(hook.verify, asStored(data))))
      throw new ApiError(
        'idempotency_key_reused',
        'An event with this id and another body was received before. Nothing was stored.',
      );
  }
  return { duplicate, agentId };
}

export interface HookAnswer {
  readonly runId: string;
  readonly callId: string;
  readonly answer: Answer;
  readonly claimToken?: string | undefined;
}

/** Answers a call of one of the hook's tools. Every other call does not exist for the hook. */
export async function receiveAnswer(tx: Tx, hook: Hook, answered: HookAnswer): Promise<AnswerEnd> {
  const agentId = await agentOf(tx, hook);
  const by = { hook: hook.name, agentId, tools: hook.answers ?? [] };
  try {
    const end = await answerCall(tx, { ...answered, by });
    return end.status === 'late' ? { ...end, error: withoutDetails(end.error) } : end;
  } catch (error) {
    throw error instanceof ApiError && error.code !== 'invalid_answer' ? withoutDetails(error) : error;
  }
}

/** Read for each request: another gateway may have created the agent anew. */
async function agentOf(tx: Tx, hook: Hook): Promise<string> {
  const agentId = await seededAgentId(tx.db, hook.agent);
  if (agentId === undefined) throw noHook(hook.name);
  return agentId;
}

export function noHook(name: string): ApiError {
  return notFound('hook', name);
}

/** The sender learns nothing about the agent, not even its id. */
function withoutAgent(error: unknown, { name }: Hook): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === 'not_found') return noHook(name);
  const { code, retryAfter } = error;
  if (code !== 'inbox_full') return error;
  const message = 'Too many events wait already. Nothing was stored. Send it again later.';
  return new ApiError(code, message, retryAfter === undefined ? {} : { retryAfter });
}

/** Details name who answered, what, and which worker has the call. */
function withoutDetails({ code, message, retryAfter }: ApiError): ApiError {
  return new ApiError(code, message, retryAfter === undefined ? {} : { retryAfter });
}

async function storedData(db: Kysely<Tables>, agentId: string, eventId: string): Promise<HookBody | undefined> {
  const { payload } = await db
    .selectFrom('inbox_events')
    .select('payload')
    .where('thread_id', '=', agentId)
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow();
  return fromJson<{ readonly data?: HookBody }>(payload).data;
}

function isErased(data: unknown): boolean {
  return JSON.stringify(data ?? null).includes(ERASED);
}

/** JSON has no -0 and the like. */
function asStored(data: HookBody): HookBody {
  return fromJson<HookBody>(toJson(data));
}
