import { type Entry, type JournalRecord, Transcript } from '@lastcall/core';
import { toTranscriptJson } from '@lastcall/core/internal';
import { fromJson, toJson } from '../../ports/store/json.ts';
import type { Json } from '../../ports/store/tables.ts';
import type { FailedRequest, StoredRequest } from '../runs/stored-request.ts';

/** The `kind` of the row that replaces all rows before it. Every other row has the kind of its entry. */
export const COMPACTION = 'compaction';

/** What a compaction left of the entries before it. */
export interface Compaction {
  readonly summary: string;
  /** A complete transcript: the summary as a message, the calls that still wait, and the newest cycle. */
  readonly carried: readonly Entry[];
}

/** An entry with what is stored beside it. */
export interface EntryRecord extends JournalRecord {
  /** Of a reply: what the model was asked. Of the end of a failed run: what it did not answer. */
  readonly request?: StoredRequest | FailedRequest | undefined;
}

/** Serializes an entry and, for the end of a call, what the call changed. */
export function toEntryPayload({ entry, staged, request }: EntryRecord): Json {
  const [plain] = toTranscriptJson([entry]).entries;
  return toJson({
    entry: plain,
    ...(staged === undefined ? {} : { staged }),
    ...(request === undefined ? {} : { request }),
  });
}

export function fromEntryPayload(payload: Json): JournalRecord {
  const { entry, ...rest } = fromJson<JournalRecord>(payload);
  return { entry: entry.kind === 'message' ? (revive([entry])[0] ?? entry) : entry, ...rest };
}

export function toCompactionPayload({ summary, carried }: Compaction): Json {
  return toJson({ summary, carried: new Transcript(carried).toJSON().entries });
}

export function fromCompactionPayload(payload: Json): Compaction {
  const { summary, carried } = fromJson<Compaction>(payload);
  return { summary, carried: revive(carried) };
}

/** JSON holds strings where a message has URL objects. */
function revive(entries: readonly Entry[]): readonly Entry[] {
  return Transcript.fromJSON({ version: 1, entries }).entries;
}
