import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { OptionsError } from '../errors.ts';
import { CallLock } from '../session/call-lock.ts';
import { CallIds } from './call-ids.ts';
import type { Entry } from './entry.ts';
import { copyProgress, follow, readProgress, type TurnProgress } from './progress.ts';
import { fromTranscriptJson, type TranscriptJson, toTranscriptJson } from './transcript-json.ts';
import { View } from './view.ts';

/** The append-only log of what happened. Resuming after a crash means running the same loop on it. */
export class Transcript {
  #entries: Entry[] = [];
  #view = new View();
  #turns: CallLock | undefined;
  #progress: TurnProgress | undefined;
  #callIds: CallIds | undefined;

  constructor(entries: readonly Entry[] = []) {
    assertEntries(entries);
    for (const entry of entries) this.push(entry);
  }

  /** Serializes turns on this transcript. */
  get turns(): CallLock {
    this.#turns ??= new CallLock();
    return this.#turns;
  }

  /**
   * How far its last turn has come. It is read from all entries on first use, and updated from then on: otherwise each
   * turn would cost more the longer the conversation is.
   */
  get progress(): TurnProgress {
    this.#progress ??= readProgress(this.#entries);
    return this.#progress;
  }

  /** Whether a call has this id. Updated like `progress`. */
  hasCall(callId: string): boolean {
    return this.#knownIds().has(callId);
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The messages a model would get now, with our own ids of its calls. */
  view(): LanguageModelV4Message[] {
    return this.#view.messages();
  }

  /** The messages for one provider: its own calls keep the ids it assigned, if these are unique. */
  viewFor(provider: string): LanguageModelV4Message[] {
    return this.#view.messagesFor(provider).slice();
  }

  /** The same without a copy, until the next entry. A request copies them anyway. */
  shownTo(provider: string): readonly LanguageModelV4Message[] {
    return this.#view.messagesFor(provider);
  }

  /** The messages that a model of the provider had been sent when it asked for a call. */
  viewBefore(callId: string, provider: string): LanguageModelV4Message[] {
    return this.#view.before(callId, provider);
  }

  /** Adds entries. Entries are never changed or removed. */
  push(...entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#view.apply(entry);
      if (this.#progress !== undefined) follow(this.#progress, entry);
      if (this.#callIds !== undefined) addCallIds(this.#callIds, entry);
    }
  }

  /**
   * A transcript that starts with the same entries and is independent afterwards: entries added to one are not seen by
   * the other. Nothing is read or derived again, so a long history costs a shallow copy. Messages that both show are
   * frozen.
   */
  fork(): Transcript {
    const forked = new Transcript();
    forked.#entries = this.#entries.slice();
    forked.#view = this.#view.fork();
    forked.#progress = copyProgress(this.progress);
    forked.#callIds = new CallIds(this.#knownIds());
    return forked;
  }

  #knownIds(): CallIds {
    if (this.#callIds === undefined) {
      this.#callIds = new CallIds();
      for (const entry of this.#entries) addCallIds(this.#callIds, entry);
    }
    return this.#callIds;
  }

  /** Plain data: a tool's value beyond JSON is kept as far as JSON can. */
  toJSON(): TranscriptJson {
    return toTranscriptJson(this.#entries);
  }

  /** Reads the result of `toJSON`, whole or any prefix of it. */
  static fromJSON(json: TranscriptJson | string): Transcript {
    const made = new Transcript(fromTranscriptJson(json));
    // A stored transcript is read in order to continue it, so its progress is computed now and not in the next step.
    made.#progress = readProgress(made.#entries);
    made.#knownIds();
    return made;
  }
}

/** Records of a journal would otherwise be taken for entries of unknown kinds, which show nothing to the model. */
function assertEntries(entries: unknown): void {
  if (!Array.isArray(entries))
    throw new OptionsError(
      'entries',
      'must be an array of entries. Transcript.fromJSON(stored) reads what toJSON() gave.',
    );
  const [first] = entries as readonly unknown[];
  if (first === undefined || typeof (first as Partial<Entry> | null)?.kind === 'string') return;
  throw new OptionsError(
    'entries',
    'must be an array of entries. Of records of a journal, give records.map(({ entry }) => entry).',
  );
}

function addCallIds(ids: CallIds, entry: Entry): void {
  if (entry.kind === 'reply') for (const { callId } of entry.calls) ids.add(callId);
}
