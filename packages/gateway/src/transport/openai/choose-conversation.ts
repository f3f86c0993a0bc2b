import type { Kysely } from 'kysely';
import { ifNotFound } from '../../domain/api-error.ts';
import { conversationOfClientCall } from '../../domain/conversations/asked-calls.ts';
import { getConversation } from '../../domain/conversations/conversation.ts';
import { toldMessages } from '../../domain/conversations/told-messages.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { lockRows } from '../../ports/store/lock-rows.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { findConversation, isLast, isSaved } from '../../runtime/chat/find-conversation.ts';
import type { TurnCaller, TurnRequest } from '../../runtime/chat/turn-request.ts';
import type { Asked } from './asked.ts';
import { conversationHash, type Scope } from './conversation-hash.ts';
import { findTurn } from './find-response.ts';
import type { Item, ToldConversation } from './items.ts';

export interface Search {
  readonly asked: Asked;
  readonly told: ToldConversation;
  readonly agent: AgentRow;
  readonly caller: TurnCaller;
  readonly scope: Scope;
}

/** The conversation that a request continues, or a new one with the history that the client sent. */
export async function chooseConversation(tx: Tx, search: Search): Promise<TurnRequest['conversation']> {
  const { asked, told, agent, caller, scope } = search;
  const [first] = told.answers;
  if (first !== undefined)
    return await inConversation(tx, search, await conversationOfCalls(tx.db, told.answers, caller));
  if (asked.contextId !== undefined) return await inConversation(tx, search, asked.contextId);
  if (asked.previousRunId !== undefined) return await afterRun(tx, search, asked.previousRunId);
  const contextId =
    told.lastReply === undefined
      ? undefined
      : await findConversation(tx, {
          caller,
          conversationHash: conversationHash(told.beforeReply, scope),
          lastReply: told.lastReply,
        });
  return contextId === undefined ? { agent: agent.id, history: told.history } : { contextId };
}

/** A conversation belongs to one agent; another agent cannot answer in it. */
async function inConversation(
  tx: Tx,
  { agent, caller }: Search,
  contextId: string,
): Promise<{ readonly contextId: string }> {
  const conversation = await getConversation(tx.db, contextId, caller);
  if (conversation.agentId !== agent.id)
    throw invalid('model', `must be the agent of the conversation, "${conversation.agentId}".`);
  return { contextId: conversation.id };
}

/** If the conversation has continued since that run, a new conversation branches off with the texts up to that run. */
async function afterRun(tx: Tx, search: Search, runId: string): Promise<TurnRequest['conversation']> {
  const turn = await findTurn(tx.db, runId, search.caller);
  const conversation = await inConversation(tx, search, turn.contextId);
  // If two requests continue from the same run at once, the second one branches off.
  await lockRows(tx, { threads: [turn.contextId] });
  if (!(await isSaved(tx.db, turn)))
    throw invalid('previous_response_id', 'belongs to a run that has not ended, or was not stored.');
  if (await isLast(tx.db, turn)) return conversation;
  return { agent: search.agent.id, history: [...(await toldMessages(tx.db, turn)), ...search.told.history] };
}

/** The one conversation whose calls are answered. Only calls of the caller's own tools can be answered here. */
async function conversationOfCalls(
  db: Kysely<Tables>,
  answers: readonly Extract<Item, { kind: 'answer' }>[],
  caller: TurnCaller,
): Promise<string> {
  const found = new Set<string>();
  for (const { callId, path } of answers) {
    const contextId = await conversationOfClientCall(db, callId);
    const isTheirs = contextId !== undefined && (await mayUse(db, contextId, caller));
    if (!isTheirs) throw invalid(path, `"${callId.slice(0, 100)}" is not a waiting call of your tools.`);
    found.add(contextId);
    if (found.size > 1) throw invalid(path, 'belongs to another conversation.');
  }
  return [...found][0] ?? '';
}

async function mayUse(db: Kysely<Tables>, contextId: string, caller: TurnCaller): Promise<boolean> {
  return (await getConversation(db, contextId, caller).catch(ifNotFound)) !== undefined;
}
