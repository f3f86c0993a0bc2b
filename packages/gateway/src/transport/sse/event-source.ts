import type { Logger } from '@lastcall/core';
import { ApiError } from '../../domain/api-error.ts';
import { HEARTBEAT } from '../../domain/streams/encode-event.ts';
import type { StreamReader } from '../../domain/streams/read-stream.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { StreamEnd } from '../../telemetry/metrics.ts';
import type { Holder } from '../places.ts';
import { type EventFormat, plainFormat } from './event-format.ts';
import type { OpenStreams } from './open-streams.ts';
import { StallWatch } from './stall-watch.ts';

/** Where a response gets its events: one stream, or several in a row. */
export type EventReader = Pick<StreamReader, 'next' | 'look' | 'close' | 'position'>;

export interface EventSourceOptions {
  readonly reader: EventReader;
  readonly streams: OpenStreams;
  /** The holder whose share of the streams it counts towards. */
  readonly holder: Holder;
  readonly logger: Logger;
  readonly access: StreamAccess;
  /** Events that come before those of the reader. */
  readonly greeting?: Uint8Array;
  /** The last bytes of the stream, if it ends after this event, or after a reset. The signal is aborted when the stream is over. */
  readonly finish?: (event: StreamEvent | undefined, signal: AbortSignal) => Promise<Uint8Array> | undefined;
  /** Why the client may no longer read, if what the stream shows was deleted. */
  readonly deletion?: () => Promise<ApiError | undefined>;
  /** Default: the gateway's own. */
  readonly format?: EventFormat;
  readonly heartbeatMs: number;
  /** How long a client may read nothing of what was sent to it. */
  readonly stallMs: number;
  /** Cuts the connection. A client that does not read would not notice that the stream was closed, and would stay connected. */
  readonly disconnect?: () => void;
}

/** Decides whether the client may still read. */
export interface StreamAccess {
  /** Queries the database: at every heartbeat, after a reset, and after events for which `concerns` is true. */
  isAllowed(): Promise<boolean>;
  concerns(event: StreamEvent): boolean;
  /**
   * Called before every event. Returns a promise in the rare case that revocations have to be loaded first: `ended` is up to date
   * once it resolves.
   */
  catchUp(event: StreamEvent): Promise<void> | undefined;
  /** Aborted when the client's credentials are revoked. */
  readonly ended: AbortSignal;
  /** When the access expires, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** Called when the stream is over. */
  close(): void;
}

/**
 * The events of a reader as a body of `text/event-stream`. It reads from the reader only as fast as the client reads, in pieces.
 * So a slow client costs no memory, and a client that is reading a large event is seen to make progress. It ends when the client
 * may no longer read, and when the gateway stops.
 */
export function eventSource(options: EventSourceOptions): ReadableStream<Uint8Array> {
  const { reader, streams, holder, logger, access, heartbeatMs, stallMs, disconnect, format = plainFormat } = options;
  const { expiresAt } = access;
  let output: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The rest of the current event. */
  let rest: Uint8Array | undefined;
  let lastWords: Promise<Uint8Array> | undefined;
  let isCheckDue = false;
  let failures = 0;
  const over = new AbortController();
  const leave = streams.enter(holder, () => end('stop'));
  const beat = setInterval(() => void onBeat().catch(fail), heartbeatMs);
  const expiry = expiresAt === undefined ? undefined : setTimeout(endAccess, delayUntil(expiresAt));
  const stall = new StallWatch({ ms: stallMs, onStall: () => end('slow') });
  let ended = false;

  function end(why: StreamEnd, interrupted = format.interrupted): void {
    if (ended) return;
    ended = true;
    over.abort();
    clearInterval(beat);
    clearTimeout(expiry);
    access.close();
    stall.stop();
    rest = undefined;
    reader.close();
    leave(why);
    const isEarly = why !== 'done' && why !== 'client';
    const isCut = why === 'slow' || (isEarly && interrupted === 'cut');
    if (isCut && disconnect !== undefined) disconnect();
    else if (why !== 'client') {
      if (isEarly && interrupted instanceof Uint8Array) output?.enqueue(interrupted);
      output?.close();
    }
  }

  function endAccess(): void {
    end('access');
  }

  /** Ends the stream of a client that may no longer read. If the conversation was deleted, the last event says so. */
  async function deny(): Promise<void> {
    const deletion = await options.deletion?.();
    end('access', deletion && format.failed?.(deletion));
  }

  function fail(error: unknown): void {
    if (!ended) logger.warn('A stream ended early. Its client can resume it.', { error });
    end('error');
  }

  async function onBeat(): Promise<void> {
    try {
      if (!(await access.isAllowed())) return await deny();
      await reader.look();
      failures = 0;
    } catch (error) {
      // While the database is unreachable, no events are sent and no rights change. The stream stays open, because browsers do
      // not reconnect after a 503.
      if (++failures > MOST_FAILURES) throw error;
    }
    if (rest === undefined && !isFull()) put(HEARTBEAT);
  }

  function isFull(): boolean {
    return (output?.desiredSize ?? 1) <= 0;
  }

  function put(bytes: Uint8Array): void {
    if (ended) return;
    output?.enqueue(bytes);
    if (isFull()) stall.start();
  }

  /** The client has read everything: sends the next piece. The stream does not call this again before a piece was sent. */
  async function move(): Promise<void> {
    stall.stop();
    while (!(await handOut()));
  }

  /** Returns false if the next event has nothing to send. */
  async function handOut(): Promise<boolean> {
    rest ??= await take();
    if (rest === undefined) return true;
    const piece = rest.subarray(0, PIECE_BYTES);
    rest = rest.length > PIECE_BYTES ? rest.subarray(PIECE_BYTES) : undefined;
    if (piece.length > 0) put(piece);
    if (rest !== undefined) return true;
    if (isCheckDue) {
      isCheckDue = false;
      if (!(await access.isAllowed())) await deny();
    }
    if (lastWords === undefined) return piece.length > 0 || ended;
    put(await lastWords.catch(toLastWords));
    end('done');
    return true;
  }

  function toLastWords(error: unknown): Uint8Array {
    if (!(error instanceof ApiError) || format.failed === undefined) throw error;
    return format.failed(error);
  }

  async function take(): Promise<Uint8Array | undefined> {
    const item = await reader.next();
    if (item?.kind === 'event') await access.catchUp(item.event);
    if (item === undefined || ended) return undefined;
    // The clock is checked too, because the timer may be late.
    if (expiresAt !== undefined && Date.now() >= expiresAt) {
      endAccess();
      return undefined;
    }
    // A reset may have skipped the event that ended the client's membership.
    isCheckDue = item.kind === 'reset' || access.concerns(item.event);
    lastWords = options.finish?.(item.kind === 'reset' ? undefined : item.event, over.signal);
    // The promise is awaited only after this event: until then an unhandled rejection would end the process.
    lastWords?.catch(() => {});
    return (item.kind === 'reset' ? format.reset(item.seq) : await format.event(item.event)) ?? NOTHING;
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      output = controller;
      access.ended.addEventListener('abort', endAccess);
      if (access.ended.aborted) return endAccess();
      put(format.start(reader.position));
      if (options.greeting !== undefined) put(options.greeting);
    },
    pull: () => move().catch(fail),
    cancel: () => end('client'),
  });
}

/** Sent for events that are not shown. */
const NOTHING: Uint8Array = new Uint8Array(0);

/**
 * Pieces are views of the event's bytes, not copies. They are small enough that a client on a slow connection reads one in a few
 * seconds.
 */
const PIECE_BYTES = 65_536;

/** The number of heartbeats in a row that the database may leave unanswered: about a minute. */
const MOST_FAILURES = 4;

// Timers are limited to 31 bits. A token that is valid for longer is checked at every heartbeat anyway.
function delayUntil(time: number): number {
  return Math.min(Math.max(time - Date.now(), 0), 2 ** 31 - 1);
}
