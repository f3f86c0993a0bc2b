import { Transcript } from '@lastcall/core';
import {
  type Consciousness,
  type TranscriptRow,
  toConsciousness,
} from '../../domain/consciousness/load-consciousness.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { Json } from '../../ports/store/tables.ts';
import type { SessionState } from './cycle.ts';

/** What an agent's next cycle begins from, read from its rows. */
export interface Past {
  readonly consciousness: Consciousness;
  readonly transcript: Transcript;
  /** The session as it was at some row of the transcript. */
  readonly state: SessionState | undefined;
  /** Why it could not be read. Then all of the above is empty but the number of the next row. */
  readonly flaw?: { readonly error: unknown };
}

/**
 * Never throws: rows that cannot be read (a damaged database, a row of another version) would make every claim of the thread fail
 * for ever, and what waits for the agent would wait in silence.
 */
export function readPast(rows: readonly TranscriptRow[], state: Json | null): Past {
  try {
    const consciousness = toConsciousness(rows);
    return {
      consciousness,
      transcript: new Transcript(consciousness.entries),
      state: state === null ? undefined : fromJson<SessionState>(state),
    };
  } catch (error) {
    const consciousness: Consciousness = { entries: [], records: [], nextSeq: (rows.at(-1)?.seq ?? 0) + 1 };
    return { consciousness, transcript: new Transcript(), state: undefined, flaw: { error } };
  }
}
