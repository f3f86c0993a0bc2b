import type { Logger } from '@lastcall/core';
import type { StreamEvent } from '../bus/bus.ts';
import type { StreamEnd } from '../telemetry/metrics.ts';
import { encodeEvent, encodeReset, encodeStart, HEARTBEAT } from './encode-event.ts';
import type { OpenStreams } from './open-streams.ts';
import type { StreamReader } from './read-stream.ts';

export interface EventSourceOptions {
  readonly reader: StreamReader;
  readonly streams: OpenStreams;
  readonly logger: Logger;
  /** Whether whoever reads may still read. Asked at every heartbeat, and after events that `concerns` names. */
  readonly isAllowed: () => Promise<boolean>;
  readonly concerns: (event: StreamEvent) => boolean;
  /** When what they showed at the door runs out, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  readonly heartbeatMs: number;
  /** Cuts the connection. A client that takes nothing would not notice that the stream was closed, and stay. */
  readonly disconnect?: () => void;
}

/**
 * The events of a reader as a body of `text/event-stream`. It takes from the reader only what the client took from it, so a slow
 * client costs no memory; it ends with the right to read, and with the gateway.
 */
export function eventSource(options: EventSourceOptions): ReadableStream<Uint8Array> {
  const { reader, streams, logger, isAllowed, concerns, expiresAt, heartbeatMs, disconnect } = options;
  const encoder = new TextEncoder();
  let output: ReadableStreamDefaultController<Uint8Array> | undefined;
  let movedSinceBeat = true;
  let failures = 0;
  const leave = streams.enter(() => end('stop'));
  const beat = setInterval(() => void onBeat().catch(fail), heartbeatMs);
  const expiry = expiresAt === undefined ? undefined : setTimeout(() => end('access'), delayUntil(expiresAt));
  let ended = false;

  function end(why: StreamEnd): void {
    if (ended) return;
    ended = true;
    clearInterval(beat);
    clearTimeout(expiry);
    reader.close();
    leave(why);
    if (why === 'slow' && disconnect !== undefined) disconnect();
    else if (why !== 'client') output?.close();
  }

  function fail(error: unknown): void {
    if (!ended) logger.warn('A stream ended early: its client can resume it.', { error });
    end('error');
  }

  async function onBeat(): Promise<void> {
    const full = (output?.desiredSize ?? 1) <= 0;
    if (full && !movedSinceBeat) return end('slow');
    movedSinceBeat = false;
    try {
      if (!(await isAllowed())) return end('access');
      await reader.look();
      failures = 0;
    } catch (error) {
      // While the database is away nothing is said, and nobody's rights change. Browsers never come back to a 503.
      if (++failures > MOST_FAILURES) throw error;
    }
    if (!ended && !full) output?.enqueue(encoder.encode(HEARTBEAT));
  }

  async function move(): Promise<void> {
    const item = await reader.next();
    movedSinceBeat = true;
    if (item === undefined || ended) return;
    output?.enqueue(encoder.encode(item.kind === 'reset' ? encodeReset(item.seq) : encodeEvent(item.event)));
    if (item.kind === 'event' && concerns(item.event) && !(await isAllowed())) end('access');
  }

  void reader.ended.then((why) => end(why === 'slow' ? 'slow' : 'stop'));
  return new ReadableStream<Uint8Array>({
    start(controller) {
      output = controller;
      controller.enqueue(encoder.encode(encodeStart(reader.position)));
    },
    pull: () => move().catch(fail),
    cancel: () => end('client'),
  });
}

/** Heartbeats in a row that the database did not answer: a minute. */
const MOST_FAILURES = 4;

// Timers hold 31 bits; a token that lives longer than that is checked at every heartbeat anyway.
function delayUntil(time: number): number {
  return Math.min(Math.max(time - Date.now(), 0), 2 ** 31 - 1);
}
