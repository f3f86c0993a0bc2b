import type { ApiError } from '../../domain/api-error.ts';
import { getConversation } from '../../domain/conversations/conversation.ts';
import { findDeletion, type RunAnswer } from '../../domain/conversations/run-answer.ts';
import { runStream } from '../../domain/streams/stream-names.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import { awaitRun } from '../../runtime/chat/await-run.ts';
import type { AcceptedTurn } from '../../runtime/chat/turn-request.ts';
import { awaitAnswer, clientLeft } from '../http/await-answer.ts';
import { errorOf } from '../http/chat-answer.ts';
import { conversationUser } from '../http/conversation-user.ts';
import type { Exchange } from '../http/endpoint.ts';
import { errorBody } from '../http/error-answer.ts';
import { openStream, type StreamOptions } from '../http/open-stream.ts';
import { statusOf } from '../http/statuses.ts';
import { type OpenAiError, toOpenAiError } from './openai-error.ts';
import { type Outcome, outcomeOf, quotaError } from './outcome.ts';

/** The format of one kind of answer, as a whole and as chunks. */
export interface AnswerShape {
  whole(outcome: Outcome): object;
  readonly isStream: boolean;
  start(): Uint8Array<ArrayBuffer>;
  event(event: StreamEvent): Uint8Array<ArrayBuffer> | undefined;
  finish(outcome: Outcome): Uint8Array<ArrayBuffer>;
  fail(error: OpenAiError): Uint8Array<ArrayBuffer>;
}

/** Waits for a run and responds with its result. If the client disconnects, the wait ends and the run continues. */
export async function answerRun(
  accepted: AcceptedTurn,
  shape: AnswerShape,
  { exchange, options }: { readonly exchange: Exchange; readonly options: StreamOptions },
): Promise<Response> {
  if (shape.isStream) return await streamRun(accepted, shape, { exchange, options });
  const { services } = options;
  const answer = await awaitAnswer(accepted.runId, exchange, options);
  if (answer === undefined) return clientLeft();
  const error = errorOf(answer) ?? quotaError(answer);
  if (error !== undefined) throw error;
  return exchange.json(shape.whole(await outcomeOf(services.store.db, answer)));
}

async function streamRun(
  { runId, contextId }: AcceptedTurn,
  shape: AnswerShape,
  { exchange, options }: { readonly exchange: Exchange; readonly options: StreamOptions },
): Promise<Response> {
  const { services } = options;
  const { db } = services.store;
  const lastWords = async (answer: RunAnswer): Promise<Uint8Array<ArrayBuffer>> => {
    const error = errorOf(answer) ?? quotaError(answer);
    return error === undefined ? shape.finish(await outcomeOf(db, answer)) : shape.fail(toChunk(error));
  };
  return await openStream(
    {
      stream: runStream(runId),
      lastEventId: 0,
      assertAllowed: async ({ db }) => void (await getConversation(db, contextId, conversationUser(exchange.caller))),
      format: {
        start: () => shape.start(),
        event: (event) => shape.event(event),
        reset: () => undefined,
        // Events are numbered as they are made, so this one is made when it is sent.
        get interrupted() {
          return shape.fail(INTERRUPTED);
        },
        failed: (error) => shape.fail(toChunk(error)),
      },
      finish: (event, signal) =>
        event === undefined || event.type === 'run.end'
          ? awaitRun(services, runId, { signals: [signal] }).then(lastWords)
          : undefined,
      deletion: () => findDeletion(db, runId),
    },
    exchange,
    options,
  );
}

function toChunk(error: ApiError): OpenAiError {
  return toOpenAiError(errorBody(error).error, statusOf(error));
}

const INTERRUPTED: OpenAiError = {
  error: {
    message:
      'The stream ended before the answer was complete. The run continues: send the request again with the same Idempotency-Key.',
    type: 'server_error',
    param: null,
    code: 'stream_interrupted',
  },
};
