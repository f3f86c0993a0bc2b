import { createParser } from 'eventsource-parser';
import { backoffMs, pause } from './backoff.ts';
import { ClientError } from './client-error.ts';
import { asClientError, type Connection, originOf, type StreamRequest } from './connection.ts';
import { onceHidden, onceShown } from './page-visibility.ts';
import { isRepeated, type Numbered, nextStream, startStream } from './stream-state.ts';

export interface StreamOptions {
  /**
   * The `seq` of the last event that is known; 0: from the oldest that is stored. Default: events from now on. `chat.stream` begins at the
   * start of its run.
   */
  readonly after?: number | undefined;
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined;
  /**
   * After how long in the background a page gives its connection up, in milliseconds; it goes on where it was once the page is shown.
   * A browser has six connections to a host for all its tabs. Default: never.
   */
  readonly hiddenMs?: number | undefined;
  /** Called with every change. */
  readonly onConnection?: ((state: ConnectionState) => void) | undefined;
}

/** `live`: connected. `connecting`: for the first time. `waiting`: the connection was lost and is opened again. */
export type ConnectionState = 'connecting' | 'live' | 'waiting';

interface FollowOptions extends StreamOptions {
  /** How often it is tried to open the stream for the first time. Default: until it opens. */
  readonly attempts?: number | undefined;
}

/**
 * The events of a stream, each once and in order, over as many connections as it takes. It ends with its signal, and throws what
 * waiting does not cure: no access, no such space. After a `reset` event, load the state again: what was missed is gone.
 */
export async function* followStream<E extends Numbered>(
  connection: Connection,
  request: StreamRequest,
  { after, signal, hiddenMs, onConnection, attempts = Number.POSITIVE_INFINITY }: FollowOptions = {},
): AsyncGenerator<E, void, undefined> {
  // Waiting does not give the client an address.
  originOf(connection.options);
  let state = startStream(after, attempts);
  onConnection?.('connecting');
  for (;;) {
    const cut = new AbortController();
    const end = (): void => cut.abort();
    signal?.addEventListener('abort', end);
    const hidden = new Error('The page is in the background.');
    const unwatch = onceHidden(hiddenMs, () => cut.abort(hidden));
    let failure: ClientError | undefined;
    const { silenceMs = SILENCE_MS } = connection.options;
    const silence = setTimeout(() => cut.abort(new DOMException('No answer.', 'TimeoutError')), silenceMs);
    try {
      signal?.throwIfAborted();
      const response = await connection.open(request, { lastEventId: state.last?.toString(), signal: cut.signal });
      clearTimeout(silence);
      assertEventStream(response);
      state = nextStream(state, { type: 'opened', start: startOf(response) });
      onConnection?.('live');
      for await (const event of readEvents<E>(response, { cut, silenceMs })) {
        if (signal?.aborted === true) return;
        const isNew = !isRepeated(state, event);
        state = nextStream(state, { type: 'received', event });
        if (isNew) yield event;
      }
    } catch (error) {
      if (signal?.aborted === true) return;
      failure = asClientError(error);
    } finally {
      clearTimeout(silence);
      unwatch();
      signal?.removeEventListener('abort', end);
      // Also where the reader of the events left.
      cut.abort();
    }
    state = nextStream(state, cut.signal.reason === hidden ? { type: 'hidden' } : { type: 'lost', failure });
    if (state.kind === 'failed') throw state.failure;
    if (state.kind === 'waiting') {
      onConnection?.('waiting');
      await pause(state.retryAfterMs ?? backoffMs(state.failures, connection.options.backoff), signal);
    } else {
      await onceShown(signal);
      state = nextStream(state, { type: 'shown' });
    }
    if (signal?.aborted === true) return;
    if (state.kind === 'connecting') onConnection?.('connecting');
  }
}

/** The page of a proxy, e.g. to log in, would be taken for a stream that ends at once, again and again. */
function assertEventStream({ headers }: Response): void {
  if (headers.get('content-type')?.startsWith('text/event-stream') === true) return;
  throw new ClientError('unreachable', "The answer is not a gateway's stream. Check the URL and the proxy.");
}

/** Where the stream began: who is cut off before the first event goes on from there. */
function startOf({ headers }: Response): number | undefined {
  const id = headers.get('last-event-id');
  return id === null ? undefined : Number(id);
}

/** The gateway says something every 15 s. */
const SILENCE_MS = 40_000;

interface Reading {
  readonly cut: AbortController;
  readonly silenceMs?: number | undefined;
}

/** The events of one response. However its bytes are cut, they are the same. It reads on when it is asked for more. */
export async function* readEvents<E>(
  { body }: Pick<Response, 'body'>,
  { cut, silenceMs = SILENCE_MS }: Reading,
): AsyncGenerator<E, void, undefined> {
  if (body === null) return;
  const events: E[] = [];
  // The last events of a chat have their type in the name of the event alone.
  const parser = createParser({
    onEvent: ({ event, data }) => void events.push({ ...(event && { type: event }), ...JSON.parse(data) } as E),
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    // While the reader asks for no more events, silence means nothing.
    const silence = setTimeout(() => cut.abort(new Error('The stream fell silent.')), silenceMs);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    yield* events.splice(0);
  }
}
