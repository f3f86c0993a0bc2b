import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ModelSettingsConfig, modelSettingsSchema } from '../../../config/model-settings.ts';
import type { ApiError } from '../../../domain/api-error.ts';
import { getConversation } from '../../../domain/conversations/conversation.ts';
import { shownContextId } from '../../../domain/conversations/own-conversation-id.ts';
import { findAnswer, findDeletion, type RunAnswer } from '../../../domain/conversations/run-answer.ts';
import type { ModelSettings, TerminatingContract } from '../../../domain/conversations/turn-settings.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import { encodeLast } from '../../../domain/streams/encode-event.ts';
import { readPage } from '../../../domain/streams/read-page.ts';
import { runStream } from '../../../domain/streams/stream-names.ts';
import type { StreamEvent } from '../../../ports/bus/bus.ts';
import { canonicalJson } from '../../../ports/store/schema/json.ts';
import type { Tx } from '../../../ports/store/store.ts';
import { awaitRun } from '../../../runtime/chat/await-run.ts';
import { startTurn } from '../../../runtime/chat/start-turn.ts';
import type { AcceptedTurn, TurnInput } from '../../../runtime/chat/turn-request.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import type { Caller } from '../../caller.ts';
import type { Holder } from '../../places.ts';
import { plainFormat } from '../../sse/event-format.ts';
import { awaitAnswer, clientLeft } from '../await-answer.ts';
import { chatAnswerSchema, errorOf, shownTo, stopShownTo, toChatAnswer } from '../chat-answer.ts';
import { conversationUser } from '../conversation-user.ts';
import { type Endpoint, type Exchange, endpoint } from '../endpoint.ts';
import { errorBody, errorResponse } from '../error-answer.ts';
import { attachmentsField, idField, metadataField } from '../fields.ts';
import { headerEventId, openStream, STREAM_HEADERS, type StreamOptions } from '../open-stream.ts';

const terminatingSchema = z
  .strictObject({
    tool_ids: z.array(z.string().min(1).max(200)).min(1).max(200),
    consecutive_nudges: z.int().min(0).max(1_000).optional().meta({ description: 'Default 1.' }),
    nudge_message: z.string().min(1).max(10_000).optional(),
    max_invocations: z.int().min(1).max(1_000_000).optional().meta({ description: 'Default 64.' }),
  })
  .meta({
    id: 'TerminatingConfig',
    description: 'The run continues without user messages until one of these tools succeeds.',
  });

const common = {
  context_id: idField.optional().meta({ description: 'Default: a new conversation.' }),
  agent: idField
    .optional()
    .meta({ description: 'For a new conversation: the id or name of the agent. Default: the only agent.' }),
  metadata: metadataField.optional().meta({ description: 'For a new conversation.' }),
  terminating_config: terminatingSchema.optional(),
  settings: modelSettingsSchema.optional().meta({
    description: "How the model is asked, for this request. What it leaves out is as the agent's configuration says.",
  }),
  save: z.boolean().optional().meta({ description: 'False: the messages of this run are not stored. Default true.' }),
};

interface ChatBody {
  readonly context_id?: string | undefined;
  readonly agent?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly terminating_config?: z.infer<typeof terminatingSchema> | undefined;
  readonly settings?: ModelSettingsConfig | undefined;
  readonly save?: boolean | undefined;
}

const spoken = z.string().regex(/\S/, { error: 'must not be empty.' });

export interface ChatEndpointOptions extends StreamOptions {
  readonly registry: Registry;
}

/** The chat endpoints, at the root for compatibility, and under /api like all others. */
export function chatEndpoints(options: ChatEndpointOptions): readonly Endpoint[] {
  const { registry } = options;
  const shared = {
    method: 'post',
    access: 'entity',
    answer: chatAnswerSchema,
    isStreamable: true,
    refusals: [404, 409, 429, 502],
    reserve: (holder: Holder) => options.streams.reserve(holder),
    respond: (accepted: AcceptedTurn, exchange: Exchange) => respond(accepted, exchange, options),
  } as const;

  async function accept(tx: Tx, sent: Sent): Promise<AcceptedTurn> {
    const { caller, headers, body, input, door } = sent;
    return await startTurn(tx, registry, {
      caller: conversationUser(caller),
      conversation: conversationOf(body),
      input,
      settings: { ...settingsOf(body), ...(wantsStream(headers) ? {} : { isUnwatched: true }) },
      identity: identityOf(headers, door, body),
    });
  }

  return [
    endpoint({
      ...shared,
      path: '/chat',
      alias: '/api/chat',
      summary: 'Send a message and get the answer',
      description: STREAMABLE,
      body: z.strictObject({ ...common, message: spoken, attachments: attachmentsField.optional() }),
      handle: ({ caller, headers, body }, tx) =>
        accept(tx, {
          ...{ caller, headers, body, door: 'chat' },
          input: { message: body.message, attachments: body.attachments },
        }),
    }),
    endpoint({
      ...shared,
      path: '/chat/invoke',
      alias: '/api/chat/invoke',
      summary: 'Get a reply without sending a message',
      description: STREAMABLE,
      body: z.strictObject(common),
      handle: ({ caller, headers, body }, tx) =>
        accept(tx, { caller, headers, body, input: { invoke: true }, door: 'invoke' }),
    }),
    endpoint({
      ...shared,
      path: '/chat/add-ai-message',
      alias: '/api/chat/add-ai-message',
      summary: 'Add a message of the AI',
      description: `With \`prompt\` the model writes it, with \`message\` it is stored unchanged. ${STREAMABLE}`,
      body: z.strictObject({ ...common, prompt: spoken.optional(), message: spoken.optional() }),
      handle: ({ caller, headers, body }, tx) =>
        accept(tx, { caller, headers, body, input: aiInput(body), door: 'add-ai-message' }),
    }),
  ];
}

const STREAMABLE =
  'With `Accept: text/event-stream`, the events of the run are streamed, followed by `done` with the answer. With an `Idempotency-Key`, a repeated request gets the first answer, and with `Last-Event-ID` first the events that it missed. The headers `X-Run-Id` and `X-Context-Id` of a stream say which run it is, also while that waits behind another.';

interface Sent {
  readonly caller: Caller;
  readonly headers: Headers;
  readonly body: ChatBody;
  readonly input: TurnInput;
  readonly door: string;
}

interface AiBody extends ChatBody {
  readonly prompt?: string | undefined;
  readonly message?: string | undefined;
}

function aiInput({ prompt, message, terminating_config }: AiBody): TurnInput {
  if (message === undefined) return prompt === undefined ? { invoke: true } : { prompt };
  if (prompt !== undefined)
    throw invalid('message', 'must be absent if prompt is set: either the model writes the message, or you do.');
  if (terminating_config !== undefined)
    throw invalid('terminating_config', 'must be absent if message is set: no model is called.');
  return { aiMessage: message };
}

function conversationOf({ context_id: contextId, agent, metadata }: ChatBody): { contextId: string } | object {
  if (contextId === undefined) return { agent, metadata };
  if (agent !== undefined)
    throw invalid('agent', 'must be absent if context_id is set: the conversation already has an agent.');
  if (metadata !== undefined)
    throw invalid('metadata', 'must be absent if context_id is set: metadata is set when a conversation is created.');
  return { contextId };
}

function settingsOf({ terminating_config: config, settings, save }: ChatBody): {
  terminating?: TerminatingContract;
  modelSettings?: ModelSettings;
  save?: false;
} {
  const unsaved = {
    ...(save === false ? { save: false as const } : {}),
    ...(settings === undefined ? {} : { modelSettings: settings as ModelSettings }),
  };
  if (config === undefined) return unsaved;
  const { tool_ids: toolIds, consecutive_nudges, nudge_message, max_invocations } = config;
  return {
    ...unsaved,
    terminating: {
      toolIds,
      ...(consecutive_nudges === undefined ? {} : { consecutiveNudges: consecutive_nudges }),
      ...(nudge_message === undefined ? {} : { nudgeMessage: nudge_message }),
      ...(max_invocations === undefined ? {} : { maxInvocations: max_invocations }),
    },
  };
}

function identityOf(headers: Headers, door: string, body: object): { key: string; bodyHash: string } | undefined {
  const key = headers.get('idempotency-key');
  if (key === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalid('Idempotency-Key', 'must be 1–255 visible ASCII characters.');
  return {
    key,
    bodyHash: createHash('sha256')
      .update(`${door} ${canonicalJson(body)}`)
      .digest('hex'),
  };
}

function wantsStream(headers: Headers): boolean {
  return /\btext\/event-stream\b/i.test(headers.get('accept') ?? '');
}

/** If the client disconnects, the wait ends and the run continues. */
async function respond(accepted: AcceptedTurn, exchange: Exchange, options: ChatEndpointOptions): Promise<Response> {
  const { request } = exchange;
  if (wantsStream(request.headers)) return await respondWithStream(accepted, exchange, options);
  const answer = await awaitAnswer(accepted.runId, exchange, options);
  if (answer === undefined) return clientLeft();
  const shown = shownTo(conversationUser(exchange.caller), answer);
  const error = errorOf(shown);
  return error === undefined
    ? exchange.json(toChatAnswer(shown))
    : errorResponse(error, { generated_messages: answer.messages });
}

/** Streams the events of the run, then its answer. If the run has ended, those that the client missed, or only the answer. */
async function respondWithStream(
  { runId, contextId }: AcceptedTurn,
  exchange: Exchange,
  options: ChatEndpointOptions,
): Promise<Response> {
  const { services } = options;
  const { caller } = exchange;
  const encode = (answer: RunAnswer): Uint8Array<ArrayBuffer> =>
    encodeAnswer(shownTo(conversationUser(caller), answer));
  // A request that waits behind another has no events yet. With its id it can be cancelled.
  const headers = { 'x-run-id': runId, 'x-context-id': shownContextId(contextId, conversationUser(caller)) };
  const known = await findAnswer(services.store.db, runId);
  if (known !== undefined && !(await missedEvents(runId, exchange.request, services)))
    return new Response(encode(known), { headers: { ...STREAM_HEADERS, ...headers } });
  return await openStream(
    {
      stream: runStream(runId),
      lastEventId: 0,
      assertAllowed: async ({ db }) => void (await getConversation(db, contextId, conversationUser(caller))),
      format: {
        ...plainFormat,
        event: (event) => plainFormat.event(eventShownTo(caller, event)),
        failed: (error) => encodeError(error),
      },
      finish: (event, signal) =>
        event === undefined || event.type === 'run.end'
          ? awaitRun(services, runId, { signals: [signal] }).then(encode)
          : undefined,
      deletion: () => findDeletion(services.store.db, runId),
      headers,
    },
    exchange,
    options,
  );
}

/** True if the client says which event it had last, and the next one is still stored. */
async function missedEvents(runId: string, request: Request, { store }: StreamOptions['services']): Promise<boolean> {
  const after = headerEventId(request);
  return after !== undefined && (await readPage(store.db, { stream: runStream(runId), after })).length > 0;
}

function eventShownTo(caller: Caller, event: StreamEvent): StreamEvent {
  const viewer = conversationUser(caller);
  const isPrivate = ['run.end', 'run.taken'].includes(event.type) || event.type.startsWith('tool-call.');
  if (viewer.kind === 'key' || !isPrivate) return event;
  const { json: _, ...told } = event;
  // Internal data of tools, and the processes that ran them, are only for operators.
  const {
    changes: _changes,
    from: _from,
    to: _to,
    stop,
    ...payload
  } = event.payload as Partial<Pick<RunAnswer, 'stop'>> & {
    readonly changes?: unknown;
    readonly from?: unknown;
    readonly to?: unknown;
  };
  return { ...told, payload: stop === undefined ? payload : { ...payload, stop: stopShownTo(viewer, stop) } };
}

function encodeAnswer(answer: RunAnswer): Uint8Array<ArrayBuffer> {
  const error = errorOf(answer);
  return error === undefined
    ? encodeLast({ type: 'done', payload: toChatAnswer(answer) })
    : encodeError(error, { generated_messages: answer.messages });
}

/** `beside` has the fields next to the error. */
function encodeError(error: ApiError, beside: object = {}): Uint8Array<ArrayBuffer> {
  return encodeLast({ type: 'error', payload: { ...errorBody(error), ...beside } });
}
