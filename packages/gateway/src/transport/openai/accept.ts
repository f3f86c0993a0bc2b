import type { Answer } from '@lastcall/core';
import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { findAgentNamed } from '../../domain/agents/find-agent-named.ts';
import { ApiError, isNotFound } from '../../domain/api-error.ts';
import { assertMayChat } from '../../domain/conversations/may-chat.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { canonicalJson, fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { findStarted, startOnce } from '../../runtime/chat/start-once.ts';
import { startTurn } from '../../runtime/chat/start-turn.ts';
import {
  type AcceptedTurn,
  type TurnCaller,
  type TurnInput,
  type TurnRequest,
  viewOfCaller,
} from '../../runtime/chat/turn-request.ts';
import type { Registry } from '../../runtime/toolset/registry.ts';
import { isPageTask } from '../page-task.ts';
import type { Asked } from './asked.ts';
import { chooseConversation } from './choose-conversation.ts';
import { conversationHash, type Scope, sha256 } from './conversation-hash.ts';
import { type ToldConversation, takeApart } from './items.ts';
import { withReplies } from './with-replies.ts';

/** A request as the client sent it. */
export interface Sent {
  readonly caller: TurnCaller;
  readonly headers: Headers;
  readonly path: string;
  readonly body: object;
  readonly asked: Asked;
}

export async function accept(tx: Tx, registry: Registry, sent: Sent): Promise<AcceptedTurn> {
  const { caller, headers, asked } = sent;
  const identity = identityOf(sent);
  const isRetry = Number(headers.get('x-stainless-retry-count') ?? 0) > 0;
  const started = await findStarted(tx, { caller, identity, isRetry });
  if (started !== undefined) return started;
  const told = takeApart(await withReplies(tx.db, asked.items, caller));
  const agent = await findModel(tx.db, asked.model, caller);
  const scope = scopeOf(agent.id, sent);
  const isTask = isTaskOfPage(asked, told) || headers.get('x-lastcall-effects') === 'none';
  if (asked.modelSettings.toolChoice !== undefined) assertMayChoose({ agent, registry, isTask });
  const conversation = isTask
    ? { agent: agent.id, history: told.history }
    : await chooseConversation(tx, { asked, told, agent, caller, scope });
  const request: TurnRequest = {
    caller,
    conversation,
    input: inputOf(told, sent),
    settings: settingsOf(asked, isTask),
    systemText: told.instructions,
  };
  if ('message' in request.input && told.answers.length > 0)
    await startTurn(tx, registry, { ...request, input: { answers: answersOf(told) } });
  return await startOnce(tx, registry, {
    ...request,
    identity: {
      ...identity,
      conversationHash: isWhole(asked) ? conversationHash(told.items, scope) : undefined,
    },
    isRetry,
  });
}

/** True if the client sent the whole conversation, not only the new part. */
function isWhole({ previousRunId, contextId }: Asked): boolean {
  return previousRunId === undefined && contextId === undefined;
}

function inputOf(told: ToldConversation, { path }: Sent): TurnInput {
  if (told.message !== undefined) return { message: told.message };
  if (told.answers.length > 0) return { answers: answersOf(told) };
  if (told.history.length > 0) return { invoke: true };
  const field = path === '/v1/responses' ? 'input' : 'messages';
  throw invalid(field, 'must contain a message with role "user" that is not blank.');
}

/** A choice that the run could not keep is refused. */
function assertMayChoose(run: {
  readonly agent: AgentRow;
  readonly registry: Registry;
  readonly isTask: boolean;
}): void {
  const { definition = '' } = fromJson<AgentConfig>(run.agent.config);
  if (run.isTask)
    throw invalid('tool_choice', 'must not name a tool: a request without effects is offered none of your tools.');
  if (run.registry.definitions?.[definition]?.machine !== undefined)
    throw invalid('tool_choice', 'must not name a tool: the agent is a machine, and its nodes decide what they call.');
}

function isTaskOfPage(asked: Asked, { instructions, message = [], lastReply }: ToldConversation): boolean {
  return isWhole(asked) && lastReply === undefined && isPageTask({ instructions, message });
}

function answersOf({ answers }: ToldConversation): Readonly<Record<string, Answer>> {
  const outputs = new Map<string, string>();
  for (const { callId, output, path } of answers) {
    if ((outputs.get(callId) ?? output) !== output)
      throw invalid(path, 'names a call for which this request has another output. Send one output for each call.');
    outputs.set(callId, output);
  }
  return Object.fromEntries([...outputs].map(([callId, result]) => [callId, { result }]));
}

function settingsOf(
  { clientTools, modelSettings, isStored, previousRunId, repeated }: Asked,
  isTask: boolean,
): NonNullable<TurnRequest['settings']> {
  return {
    ...(clientTools.length === 0 ? {} : { clientTools }),
    ...(Object.keys(modelSettings).length === 0 ? {} : { modelSettings }),
    ...(isTask ? { isWithoutEffects: true } : {}),
    ...(isTask || !isStored ? { save: false } : {}),
    ...(previousRunId === undefined ? {} : { previousRunId }),
    ...(repeated === undefined ? {} : { repeated }),
  };
}

function scopeOf(agentId: string, { headers, asked }: Sent): Scope {
  return {
    agentId,
    user: asked.user ?? headers.get('x-openwebui-user-id') ?? undefined,
    chatId: headers.get('x-openwebui-chat-id') ?? undefined,
  };
}

/** Identifies the request if it is sent again. Open WebUI numbers its replies. */
function identityOf({ headers, path, body }: Sent): { readonly key?: string; readonly bodyHash: string } {
  const bodyHash = sha256(`${path} ${canonicalJson(body)}`);
  const key = headers.get('idempotency-key');
  if (key !== null) {
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalid('Idempotency-Key', 'must be 1–255 visible ASCII characters.');
    return { key, bodyHash };
  }
  const replyId = headers.get('x-openwebui-message-id');
  return replyId === null || replyId === '' ? { bodyHash } : { key: `${sha256(replyId)} ${bodyHash} 0`, bodyHash };
}

/** The agent that a client names as the model. Throws 404 also for an agent that the client must not see. */
async function findModel(db: Kysely<Tables>, model: string, caller: TurnCaller): Promise<AgentRow> {
  try {
    const agent = await findAgentNamed(db, model, viewOfCaller(caller));
    await assertMayChat(db, { agentId: agent.id, name: model }, caller);
    return agent;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!isNotFound(error)) throw invalid('model', `"${model}" is the name of several agents: use the id.`);
    const message = `There is no agent "${model.slice(0, 100)}". GET /v1/models lists those that you may use.`;
    throw new ApiError('model_not_found', message, { details: { path: 'model' }, cause: error });
  }
}
