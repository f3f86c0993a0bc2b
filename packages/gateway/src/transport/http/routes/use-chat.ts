import { z } from 'zod';
import { findAgentNamed } from '../../../domain/agents/find-agent-named.ts';
import { ifNotFound } from '../../../domain/api-error.ts';
import { getConversation } from '../../../domain/conversations/conversation.ts';
import { assertMayChat } from '../../../domain/conversations/may-chat.ts';
import { shownContextId } from '../../../domain/conversations/own-conversation-id.ts';
import { runsOfLatestTurn } from '../../../domain/conversations/turn-runs.ts';
import { runStream } from '../../../domain/streams/stream-names.ts';
import type { Tx } from '../../../ports/store/store.ts';
import { type TurnCaller, viewOfCaller } from '../../../runtime/chat/turn-request.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import { RunsReader } from '../../sse/runs-reader.ts';
import { acceptUiRequest } from '../../ui-message/accept-ui-request.ts';
import { chatMessages, historySchema } from '../../ui-message/chat-messages.ts';
import { findChat, type NamedChat } from '../../ui-message/find-chat.ts';
import { hasUnwatched, isForgotten, isSwept, toTurn } from '../../ui-message/find-turn.ts';
import { UI_STREAM_HEADERS } from '../../ui-message/ui-chunk.ts';
import { uiRequestSchema } from '../../ui-message/ui-request.ts';
import { type ShownTurn, storedTurn, UiStream } from '../../ui-message/ui-stream.ts';
import { awaitAnswer, clientLeft } from '../await-answer.ts';
import { conversationUser } from '../conversation-user.ts';
import { type Endpoint, type Exchange, endpoint } from '../endpoint.ts';
import { idField, numberInQuery } from '../fields.ts';
import { openStream, STREAM_HEADERS, type StreamOptions } from '../open-stream.ts';

export interface UseChatOptions extends StreamOptions {
  readonly registry: Registry;
}

const token = z.string().optional().meta({ description: 'An entity token, for clients that cannot set headers.' });

/** The AI SDK's `useChat`, with `api: '/api/agents/:id/chat'`. */
export function useChatEndpoints(options: UseChatOptions): readonly Endpoint[] {
  const { services, registry } = options;
  return [
    endpoint({
      method: 'post',
      path: '/api/agents/{id}/chat',
      summary: 'Send a request of the `useChat` hook of the AI SDK',
      description:
        'Responds with a UI message stream. The run continues if the client disconnects. The body of an error is its message as text.',
      access: 'entity',
      query: z.strictObject({ token }),
      body: uiRequestSchema,
      answer: 'text/event-stream',
      hasTextErrors: true,
      refusals: [409, 410, 429],
      reserve: (holder) => options.streams.reserve(holder),
      async handle({ caller, params: { id: agent }, body }, tx) {
        return await acceptUiRequest({ tx, registry, caller: conversationUser(caller), agent, body });
      },
      async respond(accepted, exchange) {
        const { signal } = exchange.request;
        const turn = await toTurn(services, accepted, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
        return turn === undefined ? clientLeft() : await show(turn, exchange, options);
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/agents/{id}/chat/{chatId}/stream',
      summary: 'Resume the last answer of a chat',
      description: 'The UI message stream of the last turn from its start, or 204 if there is nothing to show.',
      access: 'entity',
      query: z.strictObject({ token }),
      answer: 'text/event-stream',
      mayBeEmpty: true,
      hasTextErrors: true,
      refusals: [429],
      reserve: (holder) => options.streams.reserve(holder),
      // A page sends this before the first message of a chat. Chats of other callers are not found.
      handle: ({ caller, params: { id: agent, chatId } }, tx) =>
        findOpenChat(tx, { caller: conversationUser(caller), agent, chatId }),
      async respond(contextId, exchange) {
        const runIds = contextId === undefined ? [] : await runsOfLatestTurn(services.store.db, contextId);
        const [messageId] = runIds;
        if (contextId === undefined || messageId === undefined || (await isForgotten(services, runIds)))
          return new Response(null, { status: 204 });
        return await show({ contextId, runIds, messageId }, exchange, options);
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/agents/{id}/chat/{chatId}/messages',
      summary: 'Get the messages of a chat for `useChat`',
      description:
        'An array of `UIMessage` of the AI SDK, oldest first: the newest turns. Empty for a chat without messages.',
      access: 'entity',
      query: z.strictObject({
        limit: numberInQuery({ min: 1, max: 200 }).optional().meta({ description: 'The number of turns. Default 50.' }),
        before: idField.optional().meta({ description: 'The id of a message: only turns before its own.' }),
      }),
      answer: historySchema,
      async handle({ caller, params: { id: agent, chatId }, query: { limit = 50, before } }, tx) {
        const contextId = await findOpenChat(tx, { caller: conversationUser(caller), agent, chatId });
        return contextId === undefined ? [] : await chatMessages(tx.db, contextId, { limit, before });
      },
    }),
  ];
}

/** Undefined for a chat that the caller does not have. Throws 404 for an agent that the caller may not use. */
async function findOpenChat(tx: Tx, chat: NamedChat): Promise<string | undefined> {
  const found = await findChat(tx, chat).catch(ifNotFound);
  if (found !== undefined) return found;
  const { caller, agent } = chat;
  const { id: agentId } = await findAgentNamed(tx.db, agent, viewOfCaller(caller));
  await assertMayChat(tx.db, { agentId, name: agent }, caller);
  return undefined;
}

async function show(turn: ShownTurn, exchange: Exchange, options: UseChatOptions): Promise<Response> {
  const { services } = options;
  const { contextId, runIds } = turn;
  const isUnwatched = await hasUnwatched(services, runIds);
  // The events of such a run contain no text, so it is shown when it has ended.
  if (isUnwatched && (await awaitAnswer(runIds.at(-1) ?? '', exchange, options)) === undefined) return clientLeft();
  if (isUnwatched || (await isSwept(services, runIds)))
    return new Response(await storedTurn(services, turn), { headers: { ...STREAM_HEADERS, ...UI_STREAM_HEADERS } });
  const caller: TurnCaller = conversationUser(exchange.caller);
  const format = new UiStream(services, turn, { chatId: shownContextId(contextId, caller) });
  return await openStream(
    {
      stream: runStream(runIds[0] ?? ''),
      reader: new RunsReader(services, runIds),
      lastEventId: 0,
      assertAllowed: async ({ db }) => void (await getConversation(db, contextId, caller)),
      format,
      finish: (event, signal) => format.finish(event, signal),
      deletion: () => format.deletion(),
      headers: UI_STREAM_HEADERS,
    },
    exchange,
    options,
  );
}
