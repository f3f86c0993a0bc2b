import type { Consciousness } from '../consciousness/load-consciousness.ts';
import { fromEntryPayload } from '../consciousness/transcript-row.ts';
import type { Json } from '../store/tables.ts';
import type { Lease } from '../threads/lease.ts';
import type { Cycle } from './cycle.ts';

/** A row of a transcript as it was written. */
export interface WrittenRow {
  readonly seq: number;
  readonly payload: Json;
}

/** What was in a mind when its thread was held last. */
interface Kept {
  readonly epoch: number;
  readonly mind: Consciousness;
  /** What was written since. It is read when it is needed: most minds are forgotten before that. */
  readonly written: readonly WrittenRow[];
  readonly characters: number;
}

/** All together, as text: as objects they take a few times as much. */
const MOST_CHARACTERS = 4_000_000;

/**
 * Minds of threads that were held a moment ago: to read one costs more than all else of a short cycle. Only whoever holds a thread
 * writes its transcript, and every claim raises its epoch: a mind is as it was as long as nobody else had the thread since.
 */
export class Minds {
  /** Those used last are last. */
  readonly #kept = new Map<string, Kept>();
  readonly #most: number;
  #characters = 0;

  constructor({ mostCharacters = MOST_CHARACTERS }: { mostCharacters?: number } = {}) {
    this.#most = mostCharacters;
  }

  /** After a cycle that wrote its end: what it leaves to the next one. */
  keep({ lease, mind, written }: Cycle): void {
    const characters = written.reduce((sum, { payload }) => sum + payload.length, mind.characters);
    this.#set(lease.threadId, { epoch: lease.epoch, mind, written, characters });
  }

  has(threadId: string): boolean {
    return this.#kept.has(threadId);
  }

  /** Undefined: it is not known any more, or somebody else held the thread meanwhile. */
  of({ threadId, epoch }: Lease, { isNew }: { isNew: boolean }): Consciousness | undefined {
    const kept = this.#kept.get(threadId);
    if (kept === undefined) return undefined;
    if (kept.epoch === (isNew ? epoch - 1 : epoch)) return read(kept);
    this.forget(threadId);
    return undefined;
  }

  /** The thread was held once more, and nothing was written. */
  renew({ threadId, epoch }: Lease): void {
    const kept = this.#kept.get(threadId);
    if (kept !== undefined) this.#set(threadId, { ...kept, epoch });
  }

  forget(threadId: string): void {
    this.#characters -= this.#kept.get(threadId)?.characters ?? 0;
    this.#kept.delete(threadId);
  }

  #set(threadId: string, kept: Kept): void {
    this.forget(threadId);
    this.#kept.set(threadId, kept);
    this.#characters += kept.characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= this.#most) return;
      this.forget(oldest);
    }
  }
}

/** From what was written, and not from what the cycle had: a tool may still change a value that it gave. */
function read({ mind, written, characters }: Kept): Consciousness {
  if (written.length === 0) return mind;
  const records = written.map(({ seq, payload }) => ({ seq, ...fromEntryPayload(payload) }));
  return {
    entries: [...mind.entries, ...records.map(({ entry }) => entry)],
    records: [...mind.records, ...records],
    nextSeq: mind.nextSeq + written.length,
    characters,
  };
}
