import type { Outcome } from '@lastcall/core';
import type { Kysely, Selectable } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { CallRow, Tables } from '../../ports/store/schema/tables.ts';
import { notFound } from '../api-error.ts';
import { type CallStatus, callStatus } from '../calls/call-status.ts';
import { mayAnswerUnseen } from '../calls/may-answer.ts';
import { withNames } from '../calls/named-answerers.ts';
import { forAnswerer, toWaitingCall, type WaitingCall } from '../calls/waiting-call.ts';
import { isId } from '../entities/column-text.ts';
import { requireMember } from '../spaces/membership.ts';
import { type Message, toMessage } from '../spaces/message.ts';

type StoredCall = Selectable<CallRow>;

/** A call by its id alone: what its card shows, or what those who may answer it are told, and for operators everything else. */
export interface CallDetails {
  readonly callId: string;
  readonly runId: string;
  readonly toolName: string;
  /** Missing if no space sees the call. */
  readonly card?: Message;
  /** Set if it waits or waited for an answer. With a token: only if no space sees the call and the entity may answer it. */
  readonly pending?: WaitingCall;
  /** The remaining fields are only for secret keys. */
  readonly step?: number;
  readonly index?: number;
  readonly status?: CallStatus;
  readonly outcome?: Outcome;
  readonly idempotencyKey?: string;
  /** The grant that let it run without waiting for approval. */
  readonly grantId?: string;
  /** The number of times its tool ran, if it ran. */
  readonly attempts?: number;
  /** The worker that runs or ran it: the one that claimed the job, or a worker of the gateway. */
  readonly worker?: string;
  readonly createdAt?: number;
  readonly settledAt?: number;
}

/**
 * With a token (`entityId`): what the card shows to members of its space, or, without a card, what entities that may answer it
 * can see. For others the call is "not found".
 */
export async function getCall(
  db: Kysely<Tables>,
  callId: string,
  { entityId }: { readonly entityId: string | undefined },
): Promise<CallDetails> {
  const call = isId(callId)
    ? await db.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirst()
    : undefined;
  if (call === undefined) throw notFound('call', callId);
  const card = await db.selectFrom('messages').selectAll().where('call_id', '=', callId).executeTakeFirst();
  const shown = {
    callId,
    runId: call.run_id,
    toolName: call.tool_name,
    ...(card === undefined ? {} : { card: toMessage(card) }),
  };
  if (entityId === undefined) return { ...shown, ...factsOf(call), ...(await waitingFacts(db, call)) };
  if (card === undefined) return { ...shown, pending: await answerableCall(db, call, entityId) };
  await requireMember(db, card.space_id, entityId).catch(() => {
    throw notFound('call', callId);
  });
  return shown;
}

/** As the list of waiting calls shows it. */
async function answerableCall(db: Kysely<Tables>, call: StoredCall, entityId: string): Promise<WaitingCall> {
  const pending = await waitingOf(db, call);
  if (pending === undefined || !(await mayAnswerUnseen(db, pending, entityId))) throw notFound('call', call.id);
  return forAnswerer(pending);
}

function factsOf(call: StoredCall): Partial<CallDetails> {
  const attempts = attemptsOf(call);
  return {
    step: call.step,
    index: call.index,
    status: callStatus(call),
    ...(call.outcome === null ? {} : { outcome: fromJson<Outcome>(call.outcome) }),
    idempotencyKey: call.idempotency_key,
    ...(call.grant_id === null ? {} : { grantId: call.grant_id }),
    ...(attempts === undefined ? {} : { attempts }),
    createdAt: call.created_at,
    ...(call.settled_at === null ? {} : { settledAt: call.settled_at }),
  };
}

const NEVER_RAN: ReadonlySet<string> = new Set(['skipped', 'cancelled', 'denied']);

/** Middleware that repeats a call notes how often. */
function attemptsOf({ status, outcome, outcome_status }: StoredCall): number | undefined {
  if (status === 'planned' || NEVER_RAN.has(outcome_status ?? '')) return undefined;
  const noted = outcome === null ? undefined : fromJson<{ middleware?: { retry?: { attempts: number } } }>(outcome);
  return noted?.middleware?.retry?.attempts ?? 1;
}

async function waitingFacts(db: Kysely<Tables>, call: StoredCall): Promise<Partial<CallDetails>> {
  const pending = await waitingOf(db, call);
  const run = await db.selectFrom('runs').select('owner').where('id', '=', call.run_id).executeTakeFirst();
  const worker = pending?.job === undefined ? run?.owner : pending.job.worker;
  return { ...(pending === undefined ? {} : { pending }), ...(worker == null ? {} : { worker }) };
}

async function waitingOf(db: Kysely<Tables>, call: StoredCall): Promise<WaitingCall | undefined> {
  const [pending] = call.wait_kind === null ? [] : await withNames(db, [toWaitingCall(call)]);
  return pending;
}
