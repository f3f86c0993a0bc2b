import { createHash } from 'node:crypto';
import type { Answer } from '@lastcall/core';
import { ApiError, notFound } from '../../domain/api-error.ts';
import { denialReason } from '../../domain/calls/answer.ts';
import { answerCall } from '../../domain/calls/answer-call.ts';
import { isOver } from '../../domain/calls/expire-due.ts';
import { mayAnswerUnseen } from '../../domain/calls/may-answer.ts';
import { lockWaiting } from '../../domain/calls/settle-waiting.ts';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { askedCalls, unapprovedSince } from '../../domain/conversations/asked-calls.ts';
import { findAnswer } from '../../domain/conversations/run-answer.ts';
import { findByKey, findConversationOfRun, firstRunWithKeyPrefix } from '../../domain/conversations/turn-requests.ts';
import { runsOfLatestTurn } from '../../domain/conversations/turn-runs.ts';
import type { TurnSettings, UserContent } from '../../domain/conversations/turn-settings.ts';
import { isId } from '../../domain/entities/column-text.ts';
import { getRuns } from '../../domain/runs/run.ts';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { answererOf } from '../../runtime/chat/give-answers.ts';
import { callerId, startTurn } from '../../runtime/chat/start-turn.ts';
import type { TurnCaller, TurnRequest } from '../../runtime/chat/turn-request.ts';
import type { Registry } from '../../runtime/toolset/registry.ts';
import { runOfMessage } from './chat-messages.ts';
import { effectsOfMessage, effectsOfRun } from './effects-of-task.ts';
import { findChat } from './find-chat.ts';
import {
  clientToolsOf,
  readUiRequest,
  type UiClaim,
  type UiContent,
  type UiRequest,
  type UiRequestBody,
} from './ui-request.ts';

export interface UiCall {
  readonly tx: Tx;
  readonly registry: Registry;
  readonly caller: TurnCaller;
  /** An agent's id or name. */
  readonly agent: string;
  readonly body: UiRequestBody;
}

/** What the client will be shown. */
export type AcceptedUiRequest =
  | UiTurn
  /** The continuation of the turn that asked these calls. */
  | {
      readonly kind: 'continuation';
      readonly contextId: string;
      readonly messageId: string;
      /** True if nothing of the request was stored: the calls were answered before. */
      readonly isRepeat: boolean;
      readonly calls: readonly WaitingCall[];
    };

/** The turn of this run, from its beginning. */
interface UiTurn {
  readonly kind: 'turn';
  readonly contextId: string;
  readonly runId: string;
  readonly isRepeat: boolean;
}

/** A request in a chat that exists. */
interface KnownChat extends UiCall {
  readonly contextId: string;
}

export async function acceptUiRequest(call: UiCall): Promise<AcceptedUiRequest> {
  const request = readUiRequest(call.body);
  const contextId = await findChat(call.tx, { ...call, chatId: call.body.id });
  if (contextId !== undefined) return await acceptInChat({ ...call, contextId }, request);
  if (request.kind === 'answers') throw notFound('conversation', call.body.id);
  // The message that should be answered again never arrived, or its conversation was deleted.
  return await say(call, request, { agent: call.agent, newId: call.body.id });
}

async function acceptInChat(chat: KnownChat, request: UiRequest): Promise<AcceptedUiRequest> {
  switch (request.kind) {
    case 'message':
      return await submit(chat, request);
    case 'regenerate':
      return await regenerate(chat, request);
    case 'answers':
      return await takeAnswers(chat, request);
  }
}

type Submitted = Extract<UiRequest, { kind: 'message' }>;
type Said = UiContent & Pick<Submitted, 'id'>;

async function submit(chat: KnownChat, message: Submitted): Promise<AcceptedUiRequest> {
  const { id, isEdit } = message;
  // A page also sends `messageId` if it sends the same message again.
  const replaced = isEdit ? await firstRunOf(chat, id) : undefined;
  const edited = replaced === undefined ? {} : { instructions: EDITED };
  const accepted = await say(chat, message, { contextId: chat.contextId }, edited);
  await denyAbandoned(chat, accepted, { since: replaced, reason: 'The person changed their message instead.' });
  return accepted;
}

/** A message is identified by its id and content. Sending it again returns the first run. */
async function say(
  { tx, registry, caller, body }: UiCall,
  said: Said,
  conversation: TurnRequest['conversation'],
  more: Pick<TurnSettings, 'instructions'> = {},
): Promise<UiTurn> {
  const { id, content, attachments } = said;
  const bodyHash = contentHash(said);
  const effects = await effectsOfMessage(tx, 'contextId' in conversation ? conversation.contextId : undefined, content);
  const { runId, contextId, isRepeat } = await startTurn(tx, registry, {
    caller,
    conversation,
    input: { message: content, attachments },
    settings: { ...settingsOf(body), ...more, ...effects },
    identity: { key: keyOf(body, id, bodyHash), bodyHash },
  });
  return { kind: 'turn', contextId, runId, isRepeat };
}

const EDITED =
  'The last message replaces an earlier message of this conversation, which the person has edited. Everything that was done since then remains done, and calls that still wait may still run: do not repeat them unless the edited message asks for something else.';

/**
 * Answers a message once more. The effects of the first answer have happened, so the conversation keeps them: the model is asked for
 * another answer with an instruction that is not stored.
 */
async function regenerate(
  chat: KnownChat,
  said: Extract<UiRequest, { kind: 'regenerate' }>,
): Promise<AcceptedUiRequest> {
  const { tx, registry, caller, body, contextId } = chat;
  const { id, content, attachments } = said;
  const bodyHash = contentHash(said);
  const sent = await findByKey(tx.db, { caller: callerId(caller), key: keyOf(body, id, bodyHash), bodyHash });
  // The message never arrived.
  if (sent === undefined && !(await isOfChat(chat, id))) return await say(chat, said, { contextId });
  const latest = await runsOfLatestTurn(tx.db, contextId);
  const [first, last] = [latest[0], latest.at(-1)];
  // The message is still being answered.
  if (first !== undefined && last !== undefined && (await findAnswer(tx.db, last)) === undefined)
    return { kind: 'turn', contextId, runId: first, isRepeat: true };
  // The message was cancelled before its run began, so the model has never read it.
  const isUnread = first === undefined || (sent !== undefined && (await getRuns(tx.db, [sent.runId])).length === 0);
  const effectsBefore = isUnread ? {} : await effectsOfRun(tx, first);
  const { runId, isRepeat } = await startTurn(tx, registry, {
    caller,
    conversation: { contextId },
    input: isUnread ? { message: content, attachments } : { prompt: againTo(content) },
    settings: { ...settingsOf(body), ...(await effectsOfMessage(tx, contextId, content)), ...effectsBefore },
    // Two requests at the same moment become one turn.
    identity: { key: `use-chat:${body.id}:regenerate:${first ?? ''}:${bodyHash}`, bodyHash: 'regenerate' },
  });
  const accepted: UiTurn = { kind: 'turn', contextId, runId, isRepeat };
  const reason = 'The person asked for another answer instead.';
  await denyAbandoned(chat, accepted, { since: await firstRunOf(chat, id), reason });
  return accepted;
}

/** It quotes the message, because it need not be the last one. */
function againTo(content: UserContent): string {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const quoted = text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)} …` : text;
  const message = text === '' ? 'their last message' : `their message ${JSON.stringify(quoted)}`;
  return `The person asks for another answer to ${message}. Write a new answer. Everything that your tools have done since then remains done, and calls that still wait may still run: do not do it a second time.`;
}

/** Enough to tell a message from the others. */
const QUOTED_LENGTH = 500;

/** The run that answered a message of this chat first, in any version of the message. */
async function firstRunOf(chat: KnownChat, messageId: string): Promise<string | undefined> {
  const { tx, caller, body } = chat;
  const sent = await firstRunWithKeyPrefix(tx.db, callerId(caller), keyOf(body, messageId));
  return sent ?? ((await isOfChat(chat, messageId)) ? runOfMessage(messageId) : undefined);
}

/**
 * A page that asks for another answer to a message drops what followed the message, with the calls that wait for an approval there. These
 * are denied: the model may ask for the same again, and both could be approved. The new turn takes the denials. Calls that others have to
 * approve still wait.
 */
async function denyAbandoned(
  { tx, caller, contextId }: KnownChat,
  { runId: answeringRunId, isRepeat }: UiTurn,
  { since, reason }: { readonly since: string | undefined; readonly reason: string },
): Promise<void> {
  if (since === undefined || isRepeat) return;
  for (const call of await unapprovedSince(tx.db, contextId, since)) {
    const { callId, runId } = call;
    const may =
      (caller.kind === 'key' && call.answeredBy === undefined) ||
      (caller.entityId !== undefined && (await mayAnswerUnseen(tx.db, call, caller.entityId)));
    // If the call expires just now, that is its end.
    if (may) await answerCall(tx, { runId, callId, answer: { deny: reason }, by: answererOf(caller), answeringRunId });
  }
}

/** True if the page got the message from `chatMessages`. */
async function isOfChat({ tx, contextId }: KnownChat, messageId: string): Promise<boolean> {
  const runId = runOfMessage(messageId);
  if (runId === messageId || !isId(runId)) return false;
  return (await findConversationOfRun(tx.db, runId))?.contextId === contextId;
}

/**
 * Answers the calls of this chat that wait. The first answer to a call counts, from any client; a later client is shown what
 * happened. Claims about calls that do not wait are ignored.
 */
async function takeAnswers(
  chat: KnownChat,
  { messageId, claims }: Extract<UiRequest, { kind: 'answers' }>,
): Promise<AcceptedUiRequest> {
  const { tx, registry, caller, body, contextId } = chat;
  const calls = await lockAsked(tx, contextId, [...claims.keys()]);
  if (calls.length === 0) throw nothingWaits();
  const waiting = calls.filter((one) => one.status === 'pending' && !isOver(one, tx.now()));
  const answers = waiting.flatMap((one) => {
    const answer = answerTo(one, claims.get(one.callId));
    return answer === undefined ? [] : [[one.callId, answer] as const];
  });
  const isContinued = calls.some((one) => ['resolved', 'expired'].includes(one.status) || isOver(one, tx.now()));
  if (answers.length === 0 && !isContinued) throw nothingWaits();
  if (answers.length > 0)
    await startTurn(tx, registry, {
      caller,
      conversation: { contextId },
      input: { answers: Object.fromEntries(answers) },
      settings: settingsOf(body),
    });
  return { kind: 'continuation', contextId, messageId, isRepeat: answers.length === 0, calls };
}

/** Locks the calls in a fixed order, so that two pages that answer at the same moment do so one after the other. */
async function lockAsked(tx: Tx, contextId: string, callIds: readonly string[]): Promise<readonly WaitingCall[]> {
  const asked = [...(await askedCalls(tx.db, contextId, callIds)).keys()].sort();
  for (const callId of asked) await lockWaiting(tx, callId);
  return [...(await askedCalls(tx.db, contextId, asked)).values()];
}

/**
 * A decision answers a call that waits for approval; a result answers a call that waits for its result. A result never counts as
 * a decision.
 */
function answerTo({ kind, job }: WaitingCall, claim: UiClaim | undefined): Answer | undefined {
  if (claim === undefined || claim.kind === 'none' || job !== undefined) return undefined;
  if (kind === 'approval') {
    if (claim.kind !== 'approval') return undefined;
    return claim.isApproved ? { approve: true } : { deny: denialReason(claim.reason ?? '') };
  }
  if (claim.kind === 'result') return { result: claim.output };
  return claim.kind === 'error' ? { error: claim.errorText } : undefined;
}

function nothingWaits(): ApiError {
  return new ApiError(
    'no_waiting_call',
    'The last message does not answer a waiting call of this chat. Send a message, or reload the chat.',
  );
}

function settingsOf(body: UiRequestBody): Pick<TurnSettings, 'clientTools'> {
  const clientTools = clientToolsOf(body);
  return clientTools.length === 0 ? {} : { clientTools };
}

/** The key of a message. Without the hash of its content: the common prefix of the keys of all its versions. */
function keyOf({ id }: UiRequestBody, messageId: string, contentHash = ''): string {
  return `use-chat:${id}:${hash(messageId)}:${contentHash}`;
}

function contentHash({ content, attachments }: UiContent): string {
  return hash(attachments.length === 0 ? content : [content, attachments]);
}

function hash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
