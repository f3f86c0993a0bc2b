import type { ClientError } from './client-error.ts';
import { mayPass } from './connection.ts';

/**
 * What a stream is doing, and where it continues on the next connection. Only `nextStream` changes it.
 *
 *     connecting ──opened──▶ live ◀──opened── waiting
 *          ▲                  │                  ▲
 *        shown                ├───────lost───────┘    it is opened again after a pause
 *          │                  ├───────lost──▶ failed  another attempt would not help
 *        hidden ◀────hidden───┘                       the page is in the background
 *
 * A connection that cannot be opened is lost too: `lost` and `hidden` come in `connecting` and `waiting` as in `live`.
 */
export type StreamState = Progress &
  (
    | { readonly kind: 'connecting' | 'live' | 'hidden' }
    /** `retryAfterMs`: how long to wait, if the gateway said so. */
    | { readonly kind: 'waiting'; readonly retryAfterMs: number | undefined }
    | { readonly kind: 'failed'; readonly failure: ClientError }
  );

interface Progress {
  /** The `seq` of the last event that is known. */
  readonly last: number | undefined;
  /** How many connections in a row were lost without an event. */
  readonly failures: number;
  /** With this many failures the stream fails. There is no limit once it was open. */
  readonly maxFailures: number;
}

export type StreamChange =
  /** `start`: the `seq` after which the gateway starts, if it said so. */
  | { readonly type: 'opened'; readonly start: number | undefined }
  | { readonly type: 'received'; readonly event: Numbered }
  /** The connection has ended, or could not be opened. */
  | { readonly type: 'lost'; readonly failure: ClientError | undefined }
  /** The connection was given up because the page is in the background. */
  | { readonly type: 'hidden' }
  | { readonly type: 'shown' };

/** What all events of streams have. Those that are no part of the stream (a job that waits already) have no number. */
export interface Numbered {
  readonly type: string;
  readonly seq?: number | undefined;
}

export function startStream(last: number | undefined, maxFailures: number): StreamState {
  return { kind: 'connecting', last, failures: 0, maxFailures };
}

/** The next state of a stream. This is a pure function. */
export function nextStream(state: StreamState, change: StreamChange): StreamState {
  const { last, failures, maxFailures } = state;
  switch (change.type) {
    case 'opened':
      return { kind: 'live', last: last ?? change.start, failures, maxFailures: Number.POSITIVE_INFINITY };
    case 'received':
      return { ...state, failures: 0, last: isRepeated(state, change.event) ? last : (change.event.seq ?? last) };
    case 'lost':
      return lose({ last, failures: failures + 1, maxFailures }, change.failure);
    case 'hidden':
      return { kind: 'hidden', last, failures: 0, maxFailures };
    case 'shown':
      return { kind: 'connecting', last, failures, maxFailures };
  }
}

function lose(progress: Progress, failure: ClientError | undefined): StreamState {
  if (failure !== undefined && (progress.failures >= progress.maxFailures || !mayPass(failure)))
    return { ...progress, kind: 'failed', failure };
  return { ...progress, kind: 'waiting', retryAfterMs: failure?.retryAfterMs };
}

/** A proxy may repeat what it had sent, and a gateway that has never seen us starts where we say. */
export function isRepeated({ last }: Pick<Progress, 'last'>, { type, seq }: Numbered): boolean {
  return seq !== undefined && type !== 'reset' && last !== undefined && seq <= last;
}
