import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { CallLock } from '../session/call-lock.ts';
import type { Entry } from './entry.ts';
import { fromTranscriptJson, type TranscriptJson, toTranscriptJson } from './transcript-json.ts';
import { View } from './view.ts';

/** The append-only log of what happened. To resume after a crash is to run the same loop on it. */
export class Transcript {
  readonly #entries: Entry[] = [];
  readonly #view = new View();
  #turns: CallLock | undefined;

  constructor(entries: readonly Entry[] = []) {
    for (const entry of entries) this.push(entry);
  }

  /** Keeps turns upon this transcript apart. */
  get turns(): CallLock {
    this.#turns ??= new CallLock();
    return this.#turns;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The messages a model would get now, with our own ids of its calls. */
  view(): LanguageModelV4Message[] {
    return this.#view.messages();
  }

  /** The same as that provider gets them: its own calls under the ids that it gave them, wherever these are unique. */
  viewFor(provider: string): LanguageModelV4Message[] {
    return this.#view.messagesFor(provider);
  }

  /** Those that a model of the provider had got when it asked for a call. */
  viewBefore(callId: string, provider: string): LanguageModelV4Message[] {
    return this.#view.before(callId, provider);
  }

  /** Adds what happened. Entries are never changed or taken away. */
  push(...entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#view.apply(entry);
    }
  }

  /** Plain data: what a tool gave beyond JSON is kept as far as JSON can. */
  toJSON(): TranscriptJson {
    return toTranscriptJson(this.#entries);
  }

  /** Reads what `toJSON` gave, whole or any prefix of it. */
  static fromJSON(json: TranscriptJson | string): Transcript {
    return new Transcript(fromTranscriptJson(json));
  }
}
