import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { LastcallError } from '../errors.ts';
import type { Entry } from './entry.ts';
import { type SlotOf, View } from './view.ts';

/** A transcript as plain data. */
export interface TranscriptJson {
  readonly version: 1;
  readonly entries: readonly Entry[];
}

/** The append-only log of what happened. To resume after a crash is to run the same loop on it. */
export class Transcript {
  readonly #entries: Entry[] = [];
  readonly #view = new View();

  constructor(entries: readonly Entry[] = []) {
    for (const entry of entries) this.push(entry);
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The messages a model would get now. */
  view(): LanguageModelV4Message[] {
    return this.#view.messages();
  }

  /** Adds what happened. Entries are never changed or taken away. */
  push(...entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#view.apply(entry);
    }
  }

  /** Tells which condensing slot a tool's results belong to, from here on. */
  useSlots(slotOf: SlotOf): void {
    this.#view.slotOf = slotOf;
  }

  toJSON(): TranscriptJson {
    return { version: 1, entries: this.#entries };
  }

  /** Reads what `toJSON` gave, whole or any prefix of it. */
  static fromJSON(json: TranscriptJson | string): Transcript {
    const parsed = (typeof json === 'string' ? JSON.parse(json) : json) as Partial<TranscriptJson> | null;
    if (parsed?.version !== 1 || !Array.isArray(parsed.entries)) {
      throw new LastcallError('transcript', 'A stored transcript is { version: 1, entries: […] }.');
    }
    return new Transcript(structuredClone(parsed.entries));
  }
}
