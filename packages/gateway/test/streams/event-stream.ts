import { createParser } from 'eventsource-parser';

/** A parsed `text/event-stream` response. */
export interface EventStream {
  readonly status: number;
  /** The next event, or undefined once the stream has ended. */
  next(): Promise<StreamedEvent | undefined>;
  take(count: number): Promise<StreamedEvent[]>;
  /** All events until the end. */
  rest(): Promise<StreamedEvent[]>;
  /** Resolves at the next heartbeat. */
  heartbeat(): Promise<void>;
  /** The current value for Last-Event-ID. */
  readonly lastEventId: string | undefined;
  close(): Promise<void>;
}

interface StreamedEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly data: any;
}

/** Reads as fast as it can; with `lazy` it reads only on demand, and leaves the rest on the server's side. */
export function readEventStream(response: Response, { lazy = false }: { lazy?: boolean } = {}): EventStream {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const events: StreamedEvent[] = [];
  let heartbeats = 0;
  let lastEventId: string | undefined;
  const parser = createParser({
    onEvent({ id, event, data }) {
      events.push({ id, event, data: JSON.parse(data) });
    },
    onComment: () => void heartbeats++,
  });
  /** False at the end. */
  async function readOn(): Promise<boolean> {
    const { done, value } = await reader.read();
    if (done) return false;
    const text = decoder.decode(value, { stream: true });
    // According to the standard an id counts also without data, which this parser does not report.
    for (const [, id] of text.matchAll(/^id: (.*)$/gm)) lastEventId = id;
    parser.feed(text);
    return true;
  }
  let moved = Promise.withResolvers<void>();
  let ended = false;
  async function pump(): Promise<void> {
    while (await readOn().catch(() => false)) {
      moved.resolve();
      moved = Promise.withResolvers();
    }
    ended = true;
    moved.resolve();
  }
  if (!lazy) void pump();
  /** Waits until `isThere`, or the end: then false. */
  async function until(isThere: () => boolean): Promise<boolean> {
    while (!isThere()) {
      if (lazy ? !(await readOn()) : ended) return false;
      if (!lazy) await moved.promise;
    }
    return true;
  }
  async function next(): Promise<StreamedEvent | undefined> {
    return (await until(() => events.length > 0)) ? events.shift() : undefined;
  }
  return {
    status: response.status,
    next,
    async take(count) {
      const taken: StreamedEvent[] = [];
      while (taken.length < count) {
        const event = await next();
        if (event === undefined) throw new Error(`The stream ended after ${taken.length} of ${count} events.`);
        taken.push(event);
      }
      return taken;
    },
    async rest() {
      const taken: StreamedEvent[] = [];
      for (let event = await next(); event !== undefined; event = await next()) taken.push(event);
      return taken;
    },
    async heartbeat() {
      const before = heartbeats;
      if (!(await until(() => heartbeats > before))) throw new Error('The stream ended before a heartbeat.');
    },
    get lastEventId() {
      return lastEventId;
    },
    close: () => reader.cancel(),
  };
}
