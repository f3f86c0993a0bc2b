import { z } from 'zod';
import { notFound } from '../../../domain/api-error.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import type { AcceptedTurn } from '../../../runtime/chat/turn-request.ts';
import type { Registry } from '../../../runtime/toolset/registry.ts';
import { accept } from '../../openai/accept.ts';
import { answerRun } from '../../openai/answer-run.ts';
import type { Asked } from '../../openai/asked.ts';
import { chatCompletionSchema, completionShape } from '../../openai/chat-completion.ts';
import { chatRequestSchema, readChatRequest } from '../../openai/chat-request.ts';
import { cancelResponse, type FoundTurn, findResponse, findTurn } from '../../openai/find-response.ts';
import { listModels, modelSchema } from '../../openai/list-models.ts';
import { responseSchema } from '../../openai/response-object.ts';
import { responseShape } from '../../openai/response-shape.ts';
import { fromResponseId, readResponsesRequest, responsesRequestSchema } from '../../openai/responses-request.ts';
import { awaitAnswer, clientLeft } from '../await-answer.ts';
import { conversationUser } from '../conversation-user.ts';
import { type AuditedChange, type Endpoint, type Exchange, endpoint } from '../endpoint.ts';
import type { StreamOptions } from '../open-stream.ts';

export interface OpenAiEndpointOptions extends StreamOptions {
  readonly registry: Registry;
}

/** For clients of OpenAI: an agent is a model, and its tools run inside. Errors have OpenAI's shape. */
export function openAiEndpoints(options: OpenAiEndpointOptions): readonly Endpoint[] {
  const { registry } = options;
  return [
    endpoint({
      method: 'get',
      path: '/v1/models',
      summary: 'List agents as models',
      access: 'entity',
      answer: z.strictObject({ object: z.literal('list'), data: z.array(modelSchema) }),
      handle: async ({ caller }, tx) => ({ object: 'list', data: await listModels(tx.db, conversationUser(caller)) }),
    }),
    endpoint({
      method: 'get',
      path: '/v1/models/{model}',
      summary: 'Get an agent as a model',
      access: 'entity',
      answer: modelSchema,
      async handle({ caller, params }, tx) {
        const models = await listModels(tx.db, conversationUser(caller));
        const found = models.find(({ id }) => id === params.model);
        if (found === undefined) throw notFound('model', params.model);
        return found;
      },
    }),
    endpoint({
      method: 'post',
      path: '/v1/chat/completions',
      summary: 'Create a chat completion',
      description: `An agent answers as the model. ${STREAM}`,
      access: 'entity',
      body: chatRequestSchema,
      answer: chatCompletionSchema,
      isStreamable: true,
      refusals: REFUSALS,
      reserve: (holder) => options.streams.reserve(holder),
      audit: auditTurn,
      async handle({ caller, headers, body }, tx): Promise<Completion> {
        const asked = readChatRequest(body);
        const sent = { caller: conversationUser(caller), headers, path: '/v1/chat/completions', body, asked };
        const accepted = await accept(tx, registry, sent);
        return { accepted, asked, isUsageWanted: body.stream_options?.include_usage === true };
      },
      respond: ({ accepted, asked, isUsageWanted }: Completion, exchange: Exchange) =>
        answerRun(accepted, completionShape(accepted, asked, { isUsageWanted }), { exchange, options }),
    }),
    endpoint({
      method: 'post',
      path: '/v1/responses',
      summary: 'Create a response',
      description: `An agent answers as the model. ${STREAM}`,
      access: 'entity',
      body: responsesRequestSchema,
      answer: responseSchema,
      isStreamable: true,
      refusals: REFUSALS,
      reserve: (holder) => options.streams.reserve(holder),
      audit: auditTurn,
      async handle({ caller, headers, body }, tx): Promise<Accepted> {
        const asked = readResponsesRequest(body);
        const sent = { caller: conversationUser(caller), headers, path: '/v1/responses', body, asked };
        return { accepted: await accept(tx, registry, sent), asked };
      },
      respond: ({ accepted, asked }: Accepted, exchange: Exchange) =>
        answerRun(accepted, responseShape(accepted, asked), { exchange, options }),
    }),
    endpoint({
      method: 'get',
      path: '/v1/responses/{id}',
      summary: 'Get a response',
      description: 'It is available also if the client disconnected.',
      access: 'entity',
      query: z.looseObject({ stream: z.string().optional() }),
      answer: responseSchema,
      async handle({ caller, params, query }, tx) {
        // A client that expects a stream would read no event from the JSON, and end without an error.
        if (query.stream === 'true') throw invalid('stream', NOT_FOLLOWED);
        return await findResponse(tx.db, fromResponseId(params.id), conversationUser(caller));
      },
    }),
    endpoint({
      method: 'post',
      path: '/v1/responses/{id}/cancel',
      summary: 'Cancel a response',
      description: 'The answer comes when its run has ended. A response that has ended is answered as it is.',
      access: 'entity',
      answer: responseSchema,
      refusals: [409, 429],
      reserve: (holder) => options.streams.reserve(holder),
      audit: ({ contextId, isCancelled }: Cancelled) =>
        isCancelled ? { subject: { kind: 'conversation', id: contextId } } : undefined,
      async handle({ caller, params }, tx): Promise<Cancelled> {
        const turn = await findTurn(tx.db, fromResponseId(params.id), conversationUser(caller));
        return { ...turn, isCancelled: await cancelResponse(tx, turn) };
      },
      async respond({ runId }: Cancelled, exchange: Exchange) {
        const answer = await awaitAnswer(runId, exchange, options);
        if (answer === undefined) return clientLeft();
        return exchange.json(await findResponse(options.services.store.db, runId, conversationUser(exchange.caller)));
      },
    }),
  ];
}

const REFUSALS = [402, 404, 409, 410, 429] as const;
const STREAM = 'With `stream: true`, the answer is sent as server-sent events.';

const NOT_FOLLOWED =
  'must not be true: a response is read as a whole. To follow it, send the request that created it again, with the same Idempotency-Key.';

interface Cancelled extends FoundTurn {
  readonly isCancelled: boolean;
}

interface Accepted {
  readonly accepted: AcceptedTurn;
  readonly asked: Asked;
}

function auditTurn({ accepted: { contextId, isRepeat } }: Accepted): AuditedChange | undefined {
  return isRepeat ? undefined : { subject: { kind: 'conversation', id: contextId } };
}

interface Completion extends Accepted {
  readonly isUsageWanted: boolean;
}
