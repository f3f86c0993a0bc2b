import { parseJson } from '../parse-json.ts';
import { createSession } from '../session/create-session.ts';
import type { Session } from '../session/session.ts';
import type { Entry } from '../transcript/entry.ts';
import type { Journal } from '../transcript/journal.ts';
import { Transcript } from '../transcript/transcript.ts';
import { toTranscriptJson } from '../transcript/transcript-json.ts';
import { type JournalRecord, replay } from '../turn/replay.ts';

/** A journal in memory. It keeps everything as JSON text, as a real one would: nothing is shared by reference. */
export interface MemoryJournal extends Journal {
  readonly entries: readonly Entry[];
  readonly records: readonly JournalRecord[];
  /** What another process would continue with. `fresh` is a session in the state before the first entry. */
  restore(fresh?: Session): { transcript: Transcript; session: Session };
}

export function memoryJournal(): MemoryJournal {
  const kept: string[] = [];
  const keep = ({ entry, ...rest }: JournalRecord): void => {
    const [plain] = toTranscriptJson([entry]).entries;
    kept.push(JSON.stringify({ entry: plain, ...rest }));
  };
  const records = (): JournalRecord[] => kept.map((text) => parseJson(text) as JournalRecord);
  return {
    append: (entries) => {
      for (const entry of entries) keep({ entry });
    },
    settle: (entry, staged) => keep({ entry, staged }),
    get entries() {
      return records().map(({ entry }) => entry);
    },
    get records() {
      return records();
    },
    restore(fresh = createSession()) {
      return { transcript: restoreTranscript(fresh, records()), session: fresh };
    },
  };
}

/** Brings the session to its state after the last record. Returns the transcript. */
export function restoreTranscript(session: Session, records: readonly JournalRecord[]): Transcript {
  replay(session, records);
  return Transcript.fromJSON({ version: 1, entries: records.map(({ entry }) => entry) });
}
