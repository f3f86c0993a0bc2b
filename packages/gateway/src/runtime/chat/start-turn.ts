import type { LanguageModelV4FilePart, LanguageModelV4Message } from '@ai-sdk/provider';
import type { AgentConfig } from '../../config/agent-config.ts';
import { findAgent } from '../../domain/agents/agent.ts';
import { findAgentNamed } from '../../domain/agents/find-agent-named.ts';
import { ensureToolCaller } from '../../domain/agents/tool-caller.ts';
import { ApiError } from '../../domain/api-error.ts';
import { attachedParts, attachToConversation } from '../../domain/artifacts/attachment.ts';
import {
  type Conversation,
  getConversation,
  getConversationForUse,
  insertConversation,
  keepLonger,
} from '../../domain/conversations/conversation.ts';
import { assertMayChat } from '../../domain/conversations/may-chat.ts';
import { newContextId } from '../../domain/conversations/own-conversation-id.ts';
import { personIn } from '../../domain/conversations/person-in.ts';
import { forgetRequest, noteRequest, type StartedTurn } from '../../domain/conversations/turn-requests.ts';
import type { TurnSettings, UserContent } from '../../domain/conversations/turn-settings.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { countWaiting, inboxFull, inboxLimit } from '../../domain/inbox/inbox-capacity.ts';
import type { ChatEvent } from '../../domain/inbox/inbox-event.ts';
import { pushNewEvent } from '../../domain/inbox/push-event.ts';
import { newId } from '../../domain/new-id.ts';
import { isLimited, projectOf } from '../../domain/projects/view.ts';
import { messageOfCall } from '../../models/fixed-call.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Registry } from '../toolset/registry.ts';
import { settingsFor } from './caller-text.ts';
import { toolsToAdd } from './check-tools.ts';
import { giveAnswers } from './give-answers.ts';
import { type AcceptedTurn, type TurnCaller, type TurnInput, type TurnRequest, viewOfCaller } from './turn-request.ts';

/*
 * How all endpoints start turns in conversations: the chat endpoints, /v1, useChat, the MCP server. docs/concepts/conversations.md
 * describes conversations as a whole.
 *
 *   const { runId, contextId } = await store.transaction((tx) => startTurn(tx, registry, request));
 *   const answer = await awaitRun(services, runId, { signals: [signal] }); // JSON: await-run.ts
 *   for await (const event of runEvents(services, runId, { signal })) …    // a stream: run-events.ts
 *
 * 1. The run that `startTurn` returned is durable once the transaction is committed: it happens on some gateway, even if
 *    no client waits for it.
 * 2. Turns of a conversation run one after another, in the order of their requests. A run's id is known before it begins.
 * 3. A repeat of a request (its idempotency key, or the same answers) starts nothing and returns the first run.
 * 4. All problems of a request are thrown as an ApiError, before anything is stored and before any model is called.
 * 5. A turn with waiting calls ends as `suspended`, with `pending` in its answer. Answers continue it in another run, with
 *    the settings of the first. They come with `input: { answers }`, or by POST /api/runs/:runId/tool-results.
 */

/** Accepts a request for a turn: see above. */
export async function startTurn(tx: Tx, registry: Registry, request: TurnRequest): Promise<AcceptedTurn> {
  const { caller, identity } = request;
  const accepted = { runId: newId(tx.now()), contextId: await contextIdOf(tx, request) };
  const repeated = identity && (await noteRequest(tx, callerId(caller), identity, accepted));
  if (repeated !== undefined) return await repeatOf(tx, repeated, caller);
  const opened = await openConversation(tx, request, accepted.contextId);
  const repeatedId = await giveAnswers(tx, { ...accepted, caller, input: request.input });
  if (repeatedId !== undefined) {
    await forgetRequest(tx, accepted);
    return { ...accepted, runId: repeatedId, isRepeat: true };
  }
  const event = await toEvent(tx, registry, { ...opened, request, runId: accepted.runId });
  const { runId, contextId } = accepted;
  pushNewEvent(tx, { threadId: contextId, eventId: `chat:${runId}`, event, runId });
  if (!opened.isNew) await assertRoom(tx, opened);
  return { ...accepted, isRepeat: false };
}

/**
 * The stored conversation id. An entity's right to use the conversation is checked first, even if the request turns out to be a
 * repeat. That of a key is checked when the conversation is opened, or the repeated turn is returned.
 */
async function contextIdOf(tx: Tx, { conversation, caller }: TurnRequest): Promise<string> {
  if ('contextId' in conversation)
    return caller.kind === 'key'
      ? conversation.contextId
      : (await getConversation(tx.db, conversation.contextId, caller)).id;
  return conversation.newId === undefined ? newId(tx.now()) : await newContextId(tx.db, conversation.newId, caller);
}

/** The turn that the same request started before. Throws if the caller may no longer use its conversation. */
export async function repeatOf(tx: Tx, turn: StartedTurn, caller: TurnCaller): Promise<AcceptedTurn> {
  if (caller.kind === 'entity' || isLimited(viewOfCaller(caller))) await getConversation(tx.db, turn.contextId, caller);
  return { runId: turn.runId, contextId: turn.contextId, isRepeat: true };
}

/** Idempotency keys of two callers never collide. */
export function callerId(caller: TurnCaller): string {
  return caller.kind === 'key' ? `key:${caller.keyId}` : `entity:${caller.entityId}`;
}

interface Opened {
  readonly conversation: Conversation;
  readonly agent: AgentRow;
  /** No other request can know the conversation yet, so no call waits in it. */
  readonly isNew: boolean;
}

async function openConversation(tx: Tx, request: TurnRequest, id: string): Promise<Opened> {
  const { conversation: wanted, caller, input, settings } = request;
  const isBrief = request.isBrief === true || settings?.save === false;
  if ('call' in input) {
    const agent = await ensureToolCaller(tx, projectOf(viewOfCaller(caller)));
    return { agent, conversation: await insertConversation(tx, { id, agentId: agent.id, isBrief: true }), isNew: true };
  }
  if ('contextId' in wanted) {
    const conversation = await getConversationForUse(tx, id, caller);
    if (!isBrief && !('answers' in input)) await keepLonger(tx, conversation);
    const agent = await findAgent(tx.db, conversation.agentId);
    assertActive(agent);
    return { conversation, agent, isNew: false };
  }
  const agent = await findAgentNamed(tx.db, wanted.agent, viewOfCaller(caller));
  await assertMayChat(tx.db, { agentId: agent.id, name: wanted.agent ?? agent.id }, caller);
  assertActive(agent);
  const conversation = await insertConversation(tx, {
    id,
    agentId: agent.id,
    ownerId: await personIn(tx.db, caller, agent),
    metadata: wanted.metadata,
    isBrief,
  });
  return { conversation, agent, isNew: true };
}

/** A paused agent would not answer before it is resumed. */
export function assertActive({ id, status }: AgentRow): void {
  if (status !== 'active')
    throw new ApiError('agent_not_active', `Agent "${id}" is ${status}: resume it first.`, {
      details: { status },
    });
}

interface Accepted extends Opened {
  readonly request: TurnRequest;
  readonly runId: string;
}

async function toEvent(
  tx: Tx,
  registry: Registry,
  { request, conversation, agent, runId }: Accepted,
): Promise<ChatEvent> {
  const { input, caller } = request;
  const settings = settingsFor(request);
  const files = await filesOf(tx, request, conversation.id);
  const messages = [...toldMessages(request), ...messagesOf(input, files)];
  if ('invoke' in input && messages.length === 0) await assertSomethingSaid(tx, conversation.id);
  const { terminating, tools = [], clientTools = [] } = settings;
  const added = await toolsToAdd(tx.db, registry, {
    config: fromJson<AgentConfig>(agent.config),
    project: agent.project_id,
    toolIds: [...tools, ...(terminating?.toolIds ?? []), ...('call' in input ? [input.call.tool] : [])],
    clientTools,
    limits: tx.limits,
    mayAdd: caller.kind === 'key',
  });
  const { tools: _given, ...others } = settings;
  const own: TurnSettings = {
    ...others,
    ...(added.length === 0 ? {} : { tools: added }),
    ...('prompt' in input ? { prompt: input.prompt } : {}),
    ...('aiMessage' in input ? { aiMessage: input.aiMessage } : {}),
    ...('call' in input ? { call: { toolName: input.call.tool, input: input.call.input } } : {}),
  };
  const entityId = await personIn(tx.db, caller, agent);
  return {
    type: 'chat',
    runId,
    messages,
    settings: own,
    ...(entityId === undefined ? {} : { entityId }),
    ...('answers' in input ? { isAnswer: true } : {}),
  };
}

function toldMessages({ conversation }: TurnRequest): readonly LanguageModelV4Message[] {
  const { history = [] } = 'contextId' in conversation ? {} : conversation;
  return history.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] }));
}

/** Only a person can upload files, and so attach them. */
async function filesOf(
  tx: Tx,
  { caller: { entityId }, input }: TurnRequest,
  contextId: string,
): Promise<readonly LanguageModelV4FilePart[]> {
  const attachments = 'message' in input ? (input.attachments ?? []) : [];
  if (attachments.length === 0) return [];
  if (entityId === undefined)
    throw invalid('attachments', 'need a person who uploaded them. Send the message with the token of that person.');
  return attachedParts(await attachToConversation(tx, { attachments, entityId, contextId }));
}

function messagesOf(input: TurnInput, files: readonly LanguageModelV4FilePart[]): readonly LanguageModelV4Message[] {
  if (!('message' in input || 'call' in input)) return [];
  // A turn begins with a message, so a direct call gets one.
  const message = 'call' in input ? messageOfCall(input.call.tool) : input.message;
  const said: UserContent = typeof message === 'string' ? [{ type: 'text', text: message }] : message;
  return [{ role: 'user', content: [...said, ...files] }];
}

/** A model without any message makes something up, or its provider refuses the request. */
async function assertSomethingSaid(tx: Tx, contextId: string): Promise<void> {
  const said = await tx.db
    .selectFrom('transcript_entries')
    .select('seq')
    .where('thread_id', '=', contextId)
    .limit(1)
    .execute();
  if (said.length > 0 || (await countWaiting(tx.db, contextId)) > 0) return;
  throw new ApiError('empty_context', `Conversation "${contextId}" has no messages yet: send a message or a prompt.`);
}

/** Counts after the insert, so this request is included. */
async function assertRoom(tx: Tx, { conversation: { id }, agent }: Opened): Promise<void> {
  const limit = inboxLimit(agent, tx.limits);
  if ((await countWaiting(tx.db, id)) > limit) throw inboxFull(id, limit);
}
