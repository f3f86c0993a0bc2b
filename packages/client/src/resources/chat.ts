import { ClientError } from '../client-error.ts';
import { attemptsOf, type Connection, type RequestOptions } from '../connection.ts';
import { followStream, type StreamOptions } from '../event-stream.ts';
import { newId } from '../new-id.ts';
import type { ChatAnswer, ErrorBody, Operations, RunEvent } from '../wire.generated.ts';

type Body<P extends ChatPath> = Operations[`POST ${P}`]['body'];
type ChatPath = '/chat' | '/chat/invoke' | '/chat/add-ai-message';

/** A message to an agent. Without `context_id` it starts a conversation. */
export type ChatRequest = Body<'/chat'>;

/** What the stream of a chat says: the events of the run, and `done` with the answer last. */
export type ChatEvent = RunEvent | ChatDone;

type ChatDone = { readonly type: 'done'; readonly seq?: undefined } & ChatAnswer;
type ChatFailed = { readonly type: 'error'; readonly seq?: undefined } & ErrorBody;

export interface ChatOptions extends RequestOptions {
  /**
   * The same request with the same key runs nothing again, and gets the first answer. Default: a new one for each request, which is
   * sent again with it. Visible ASCII, up to 255 characters.
   */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Sends an agent on a task, or talks with it. A run that does not complete rejects: `code` says how it ended, and `details` has
 * `run_id`, `context_id`, `stop` and `generated_messages`. An aborted signal stops the waiting, and not the run: cancel that with
 * `runs.cancel`.
 */
export interface Chat {
  /**
   * Sends a message, and waits for the end of the run. Each try may take 5 minutes, or the `timeoutMs` of the client: for longer runs,
   * use `stream`.
   */
  send(request: ChatRequest, options?: ChatOptions): Promise<ChatAnswer>;
  /**
   * Sends a message, and gives each event of its run once, in order, over as many connections as it takes. The last is `done`. Without
   * `after`, it begins at the start of the run. If the run has ended by the time that the stream is first opened, only `done` comes. The same
   * holds for a stream that is opened again after its events were swept.
   */
  stream(request: ChatRequest, options?: ChatOptions & StreamOptions): AsyncIterable<ChatEvent>;
  /** Runs the agent without a message. */
  invoke(request: Body<'/chat/invoke'>, options?: ChatOptions): Promise<ChatAnswer>;
  /** Has the model write a message under the instruction `prompt`, or stores `message` as the agent's. */
  addAiMessage(request: Body<'/chat/add-ai-message'>, options?: ChatOptions): Promise<ChatAnswer>;
}

/** Used if the client has no `timeoutMs`: proxies and `fetch` itself give up waiting for an answer after about this time. */
const RUN_TIMEOUT_MS = 300_000;

export function chat(connection: Connection): Chat {
  const send = <P extends ChatPath>(
    path: P,
    body: Body<P>,
    { idempotencyKey = newId(), signal }: ChatOptions = {},
  ): Promise<ChatAnswer> =>
    connection.call(`POST ${path}`, {
      body,
      headers: { [KEY_HEADER]: idempotencyKey },
      isRepeatable: true,
      timeoutMs: connection.options.timeoutMs ?? RUN_TIMEOUT_MS,
      signal,
    });
  return {
    send: (request, options) => send('/chat', request, options),
    stream: (request, options) => streamChat(connection, request, options),
    invoke: (request, options) => send('/chat/invoke', request, options),
    addAiMessage: (request, options) => send('/chat/add-ai-message', request, options),
  };
}

const KEY_HEADER = 'idempotency-key';

async function* streamChat(
  connection: Connection,
  body: ChatRequest,
  { idempotencyKey = newId(), ...options }: ChatOptions & StreamOptions = {},
): AsyncGenerator<ChatEvent, void, undefined> {
  const request = { path: '/chat', body, headers: { [KEY_HEADER]: idempotencyKey } };
  const attempts = attemptsOf(connection.options);
  for await (const event of followStream<ChatEvent | ChatFailed>(connection, request, { ...options, attempts })) {
    if (event.type === 'error') throw runFailure(event);
    yield event;
    if (event.type === 'done') return;
  }
}

function runFailure({ error: { code, message, details } }: ChatFailed): ClientError {
  return new ClientError(code, message, { details });
}
