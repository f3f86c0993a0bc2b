import type { Logger } from '@lastcall/core';
import { HEARTBEAT } from '../../domain/streams/encode-event.ts';
import type { StreamReader } from '../../domain/streams/read-stream.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { StreamEnd } from '../../telemetry/metrics.ts';
import type { Holder } from '../places.ts';
import { type EventFormat, plainFormat } from './event-format.ts';
import type { OpenStreams } from './open-streams.ts';
import { StallWatch } from './stall-watch.ts';

/** What a stream reads from: a channel, or several in a row. */
export type EventReader = Pick<StreamReader, 'next' | 'look' | 'close' | 'position'>;

export interface EventSourceOptions {
  readonly reader: EventReader;
  readonly streams: OpenStreams;
  /** Whose share of the streams it is counted in. */
  readonly holder: Holder;
  readonly logger: Logger;
  readonly access: StreamAccess;
  /** Events that come before those of the reader. */
  readonly greeting?: Uint8Array;
  /** The last words of the stream, if it ends after this event, or after a reset. */
  readonly finish?: (event: StreamEvent | undefined) => Promise<Uint8Array> | undefined;
  /** Default: the gateway's own. */
  readonly format?: EventFormat;
  readonly heartbeatMs: number;
  /** How long a client may take nothing of what is handed to it. */
  readonly stallMs: number;
  /** Cuts the connection. A client that takes nothing would not notice that the stream was closed, and stay. */
  readonly disconnect?: () => void;
}

/** Whether whoever reads may still read. */
export interface StreamAccess {
  /** Asked of the database: at every heartbeat, after a reset, and after events that `concerns` names. */
  isAllowed(): Promise<boolean>;
  concerns(event: StreamEvent): boolean;
  /** Asked before every event. A promise where that has to be found out, nearly never: then `ended` is up to date once it resolves. */
  catchUp(event: StreamEvent): Promise<void> | undefined;
  /** Aborted when what they showed at the door is void. */
  readonly ended: AbortSignal;
  /** When it runs out by itself, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** The stream is over. */
  close(): void;
}

/**
 * The events of a reader as a body of `text/event-stream`. It takes from the reader only what the client took from it, in pieces, so
 * a slow client costs no memory, and one that reads on is seen to read on also inside a large event. It ends with the right to read,
 * and with the gateway.
 */
export function eventSource(options: EventSourceOptions): ReadableStream<Uint8Array> {
  const { reader, streams, holder, logger, access, heartbeatMs, stallMs, disconnect, format = plainFormat } = options;
  const { expiresAt } = access;
  let output: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** What is still to be handed out of the event under way. */
  let rest: Uint8Array | undefined;
  let lastWords: Promise<Uint8Array> | undefined;
  let isCheckDue = false;
  let failures = 0;
  const leave = streams.enter(holder, () => end('stop'));
  const beat = setInterval(() => void onBeat().catch(fail), heartbeatMs);
  const expiry = expiresAt === undefined ? undefined : setTimeout(endAccess, delayUntil(expiresAt));
  const stall = new StallWatch({ ms: stallMs, onStall: () => end('slow') });
  let ended = false;

  function end(why: StreamEnd): void {
    if (ended) return;
    ended = true;
    clearInterval(beat);
    clearTimeout(expiry);
    access.ended.removeEventListener('abort', endAccess);
    access.close();
    stall.stop();
    rest = undefined;
    reader.close();
    leave(why);
    const isEarly = why !== 'done' && why !== 'client';
    const isCut = why === 'slow' || (isEarly && format.interrupted === 'cut');
    if (isCut && disconnect !== undefined) disconnect();
    else if (why !== 'client') {
      if (isEarly && format.interrupted instanceof Uint8Array) output?.enqueue(format.interrupted);
      output?.close();
    }
  }

  function endAccess(): void {
    end('access');
  }

  function fail(error: unknown): void {
    if (!ended) logger.warn('A stream ended early. Its client can resume it.', { error });
    end('error');
  }

  async function onBeat(): Promise<void> {
    try {
      if (!(await access.isAllowed())) return endAccess();
      await reader.look();
      failures = 0;
    } catch (error) {
      // While the database is away nothing is said, and nobody's rights change. Browsers never come back to a 503.
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

  /** The client took what was there: the next piece. It asks for no other before there was one. */
  async function move(): Promise<void> {
    stall.stop();
    while (!(await handOut()));
  }

  /** Returns false if there was nothing to hand out of the next event. */
  async function handOut(): Promise<boolean> {
    rest ??= await take();
    if (rest === undefined) return true;
    const piece = rest.subarray(0, PIECE_BYTES);
    rest = rest.length > PIECE_BYTES ? rest.subarray(PIECE_BYTES) : undefined;
    if (piece.length > 0) put(piece);
    if (rest !== undefined) return true;
    if (isCheckDue) {
      isCheckDue = false;
      if (!(await access.isAllowed())) endAccess();
    }
    if (lastWords === undefined) return piece.length > 0 || ended;
    put(await lastWords);
    end('done');
    return true;
  }

  async function take(): Promise<Uint8Array | undefined> {
    const item = await reader.next();
    if (item?.kind === 'event') await access.catchUp(item.event);
    if (item === undefined || ended) return undefined;
    // By the clock: the timer may be late.
    if (expiresAt !== undefined && Date.now() >= expiresAt) {
      endAccess();
      return undefined;
    }
    // What a reset skips may have been the event that told of their leaving.
    isCheckDue = item.kind === 'reset' || access.concerns(item.event);
    lastWords = options.finish?.(item.kind === 'reset' ? undefined : item.event);
    // It is awaited after this event: until then a failure is nobody's, and would end the process.
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

/** Of events that are not shown. */
const NOTHING: Uint8Array = new Uint8Array(0);

/** Views of the event's bytes, not copies. Small enough that a client on a thin line takes one in a few seconds. */
const PIECE_BYTES = 65_536;

/** Heartbeats in a row that the database did not answer: a minute. */
const MOST_FAILURES = 4;

// Timers hold 31 bits; a token that lives longer than that is checked at every heartbeat anyway.
function delayUntil(time: number): number {
  return Math.min(Math.max(time - Date.now(), 0), 2 ** 31 - 1);
}
