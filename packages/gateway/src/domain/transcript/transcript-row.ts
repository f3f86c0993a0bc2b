import { type Entry, type JournalRecord, Transcript } from '@lastcall/core';
import { isPlainEntry, toTranscriptJson } from '@lastcall/core/internal';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';
import { isFrame } from '../frame.ts';
import type { FailedRequest, StoredRequest } from '../runs/stored-request.ts';

/** The `kind` of the row that replaces all rows before it. Every other row has the kind of its entry. */
export const COMPACTION = 'compaction';

/** The result of a compaction. */
export interface Compaction {
  readonly summary: string;
  /** A complete transcript: the summary as a message, the calls that still wait, and the newest run. */
  readonly carried: readonly Entry[];
  /**
   * The whole machine, if the agent is one. It is in this row and not in the thread's, which is written with each claim: SQLite would write
   * the whole of it each time.
   */
  readonly machine?: unknown;
}

/** An entry with the data that is stored with it. */
export interface EntryRecord extends JournalRecord {
  /** For a reply: the request to the model. For the end of a failed run: the request that was not answered. */
  readonly request?: StoredRequest | FailedRequest | undefined;
}

/** Serializes an entry and, for the end of a call, what the call changed. */
export function toEntryPayload({ entry, staged, request }: EntryRecord): Json {
  return withPlainEntry(entry, (plain) =>
    toJson({
      entry: plain,
      ...(staged === undefined ? {} : { staged }),
      ...(request === undefined ? {} : { request }),
    }),
  );
}

/**
 * Calls `write` with the entry as JSON represents it, which is mostly the entry itself. Only this function reads values that
 * tools created.
 */
export function withPlainEntry<E extends Entry, T>(entry: E, write: (plain: E) => T): T {
  if (isPlainEntry(entry))
    try {
      return write(entry);
    } catch {
      // The value could be read once, and not again.
    }
  return write(toPlainEntry(entry));
}

/** A copy of the entry as JSON represents it. */
export function toPlainEntry<E extends Entry>(entry: E): E {
  return toTranscriptJson([entry]).entries[0] as E;
}

export function fromEntryPayload(payload: Json): JournalRecord {
  const record = fromJson<JournalRecord>(payload);
  const { entry } = record;
  if (entry.kind !== 'message' || isText(entry)) return record;
  return { ...record, entry: revive([entry])[0] ?? entry };
}

/** True for a user message that contains only texts, as nearly all do, frames included: nothing in it has to be revived. */
function isText({ message }: Extract<Entry, { kind: 'message' }>): boolean {
  if (message.role !== 'user' || !Array.isArray(message.content)) return false;
  if ('providerOptions' in message && !isFrame(message)) return false;
  return message.content.every(
    (part) => part?.type === 'text' && typeof part.text === 'string' && !('providerOptions' in part),
  );
}

export function toCompactionPayload({ summary, carried, machine }: Compaction): Json {
  const entries = new Transcript(carried).toJSON().entries;
  return toJson({ summary, carried: entries, ...(machine === undefined ? {} : { machine }) });
}

export function fromCompactionPayload(payload: Json): Compaction {
  const { summary, carried, machine } = fromJson<Compaction>(payload);
  return { summary, carried: revive(carried), ...(machine === undefined ? {} : { machine }) };
}

/** In JSON, URL objects of a message are strings. */
function revive(entries: readonly Entry[]): readonly Entry[] {
  return Transcript.fromJSON({ version: 1, entries }).entries;
}
