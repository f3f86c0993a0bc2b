import { z } from 'zod';
import { findAgentNamed } from '../../../domain/agents/find-agent-named.ts';
import { ApiError } from '../../../domain/api-error.ts';
import { runThatTook } from '../../../domain/contexts/asked-calls.ts';
import { getContext } from '../../../domain/contexts/context.ts';
import { assertMayChat } from '../../../domain/contexts/may-chat.ts';
import { findAnswer } from '../../../domain/contexts/run-answer.ts';
import { runsOfLatestTurn, runsOfTurn } from '../../../domain/contexts/turn-runs.ts';
import type { TurnSettings } from '../../../domain/contexts/turn-settings.ts';
import type { ChatEvent } from '../../../domain/inbox/inbox-event.ts';
import { runChannel } from '../../../domain/streams/emit.ts';
import type { Services } from '../../../ports/services.ts';
import { fromJson } from '../../../ports/store/json.ts';
import { awaitRun } from '../../../runtime/chat/await-run.ts';
import type { TurnCaller } from '../../../runtime/chat/turn-request.ts';
import type { Registry } from '../../../runtime/cycle/registry.ts';
import { type AcceptedUiRequest, acceptUiRequest, openChat } from '../../compat/ui-message/accept-ui-request.ts';
import { UI_STREAM_HEADERS } from '../../compat/ui-message/ui-chunk.ts';
import { uiRequestSchema } from '../../compat/ui-message/ui-request.ts';
import { type ShownTurn, storedTurn, UiStream } from '../../compat/ui-message/ui-stream.ts';
import { RunsReader } from '../../sse/runs-reader.ts';
import { contextUser } from '../context-user.ts';
import { type Endpoint, type Exchange, endpoint } from '../endpoint.ts';
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
      summary: 'Send what the `useChat` hook of the AI SDK sends',
      description:
        "Answers with a UI message stream. The run goes on if the client leaves. Errors are the error's message as text.",
      access: 'entity',
      query: z.strictObject({ token }),
      body: uiRequestSchema,
      answer: 'text/event-stream',
      hasTextErrors: true,
      refusals: [409, 410, 429],
      handle: ({ caller, params: { id: agent }, body }, tx) =>
        acceptUiRequest({ services, tx, registry, caller: contextUser(caller), agent, body }),
      async respond(accepted, exchange) {
        const turn = await toTurn(services, accepted, exchange.request.signal);
        return await show(turn, exchange, options);
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
      // A page asks before it has said anything. A chat of somebody else is none of this caller's.
      async handle({ caller, params: { id: agent, chatId } }, tx) {
        const { id: agentId } = await findAgentNamed(tx.db, agent);
        await assertMayChat(tx.db, { agentId, name: agent }, contextUser(caller));
        return await openChat(tx, { caller: contextUser(caller), agent, chatId }).then(
          () => chatId,
          (error: unknown) => ifNotFound(error),
        );
      },
      async respond(contextId, exchange) {
        const runIds = contextId === undefined ? [] : await runsOfLatestTurn(services.store.db, contextId);
        const [messageId] = runIds;
        if (contextId === undefined || messageId === undefined || (await isForgotten(services, runIds)))
          return new Response(null, { status: 204 });
        return await show({ contextId, runIds, messageId }, exchange, options);
      },
    }),
  ];
}

function ifNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status !== 404) throw error;
}

async function show(turn: ShownTurn, exchange: Exchange, options: UseChatOptions): Promise<Response> {
  const { services } = options;
  const { contextId, runIds } = turn;
  const isUnwatched = await hasUnwatched(services, runIds);
  // Its events tell of no text: it is shown when it has ended.
  if (isUnwatched) await awaitRun(services, runIds.at(-1) ?? '', { signal: exchange.request.signal });
  if (isUnwatched || (await isSwept(services, runIds)))
    return new Response(await storedTurn(services, turn), { headers: { ...STREAM_HEADERS, ...UI_STREAM_HEADERS } });
  const format = new UiStream(services, turn);
  const caller: TurnCaller = contextUser(exchange.caller);
  return await openStream(
    {
      channel: runChannel(runIds[0] ?? ''),
      reader: new RunsReader(services, runIds),
      lastEventId: 0,
      assertAllowed: async ({ db }) => void (await getContext(db, contextId, caller)),
      format,
      finish: (event) => format.finish(event),
      headers: UI_STREAM_HEADERS,
    },
    exchange,
    options,
  );
}

async function toTurn(services: Services, accepted: AcceptedUiRequest, signal: AbortSignal): Promise<ShownTurn> {
  const { contextId } = accepted;
  const { db } = services.store;
  if (accepted.kind === 'turn') {
    const runIds = await runsOfTurn(db, contextId, accepted.runId);
    return { contextId, runIds, messageId: runIds[0] ?? accepted.runId };
  }
  const { calls: known, messageId } = accepted;
  const taker = await takerOf(services, accepted, signal);
  const runs = await runsOfTurn(db, contextId, taker);
  const asking = new Set(known.map(({ runId }) => runId));
  const askedIn = runs.findIndex((runId) => asking.has(runId));
  return { contextId, messageId, known, runIds: askedIn === -1 ? runs : runs.slice(askedIn + 1) };
}

/** An answer that was given elsewhere has no run before a worker takes it. */
async function takerOf(
  { store, limits }: Services,
  { contextId, calls }: Extract<AcceptedUiRequest, { kind: 'continuation' }>,
  signal: AbortSignal,
): Promise<string> {
  const callIds = calls.map(({ callId }) => callId);
  const until = performance.now() + TAKE_MS;
  while (performance.now() < until) {
    signal.throwIfAborted();
    const runId = await runThatTook(store.db, contextId, callIds);
    if (runId !== undefined) return runId;
    await new Promise((resolve) => setTimeout(resolve, Math.min(limits.sweepMs, 200)));
  }
  throw new ApiError(503, 'not_continued', 'The call is answered, and the agent has not continued yet. Try again.', {
    retryAfter: 2,
  });
}

const TAKE_MS = 30_000;

/** Runs that were started for an answer in JSON. */
async function hasUnwatched({ store: { db } }: Services, runIds: readonly string[]): Promise<boolean> {
  const runs = await db.selectFrom('runs').select('settings').where('id', 'in', runIds).execute();
  const queued = await db
    .selectFrom('inbox_events')
    .select('payload')
    .where('run_id', 'in', runIds)
    .where('type', '=', 'chat')
    .execute();
  const settings = [
    ...runs.map((run) => (run.settings === null ? {} : fromJson<TurnSettings>(run.settings))),
    ...queued.map(({ payload }) => fromJson<ChatEvent>(payload).settings),
  ];
  return settings.some((one) => one.isUnwatched === true);
}

/** A turn that ended so long ago that its events are deleted, and that waits for nobody. */
async function isForgotten(services: Services, runIds: readonly string[]): Promise<boolean> {
  if (!(await isSwept(services, runIds))) return false;
  const last = await findAnswer(services.store.db, runIds.at(-1) ?? '');
  return last === undefined || last.pending.length === 0;
}

/**
 * Whether events of these runs are deleted, so that only what is stored can be shown. Asked in this order: a run that had ended has its
 * events, unless they are deleted; one that ends in between may not have had any before.
 */
async function isSwept({ store: { db } }: Services, runIds: readonly string[]): Promise<boolean> {
  const ended = new Set<string>();
  for (const runId of runIds) if ((await findAnswer(db, runId)) !== undefined) ended.add(runId);
  const channels = await db
    .selectFrom('channels')
    .select(['id', 'swept_seq'])
    .where('id', 'in', runIds.map(runChannel))
    .execute();
  const swept = new Map(channels.map(({ id, swept_seq }) => [id, swept_seq > 0]));
  return runIds.some((runId) => swept.get(runChannel(runId)) ?? ended.has(runId));
}
