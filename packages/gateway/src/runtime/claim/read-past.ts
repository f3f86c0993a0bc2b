import { Transcript } from '@lastcall/core';
import { PastTranscript, pastOf } from '../../domain/transcript/past-transcript.ts';
import { type SessionState, toSessionState } from '../../domain/transcript/restore-session.ts';
import type { Unreadable } from '../run/run-failure.ts';
import type { LoadedThread } from './read-thread.ts';

/** What an agent's next run begins from, read from its rows. */
export interface Past {
  readonly past: PastTranscript;
  readonly transcript: Transcript;
  /** The number of the next row. Rows of a thread are numbered from 1. */
  readonly nextSeq: number;
  /** The session as it was at some row of the transcript. */
  readonly state: SessionState | undefined;
  /** What could not be read, and why. Then all other fields are empty, except for the number of the next row. */
  readonly flaw?: { readonly error: unknown; readonly of: Exclude<Unreadable, 'machine'> };
}

/**
 * Never throws. If rows that cannot be read (a damaged database, a row of another version) threw here, every claim of
 * the thread would fail for ever, and its events would wait without any error being reported.
 */
export function readPast({ rows, state }: Pick<LoadedThread, 'rows' | 'state'>): Past {
  const nextSeq = (rows.at(-1)?.seq ?? 0) + 1;
  let of: 'transcript' | 'session' = 'transcript';
  try {
    const past = pastOf(rows);
    const transcript = past.fork();
    of = 'session';
    return { past, transcript, nextSeq, state: 'stored' in state ? toSessionState(state.stored) : state.known };
  } catch (error) {
    const flaw = { error, of };
    return { past: new PastTranscript(), transcript: new Transcript(), nextSeq, state: undefined, flaw };
  }
}
