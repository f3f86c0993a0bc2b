import { LRUCache } from 'lru-cache';
import type { TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import type { Lease } from '../lease.ts';
import type { Cycle } from './cycle.ts';

/** What was in a mind when its thread was held last. */
interface Kept {
  readonly epoch: number;
  /** As they were written, and read anew each time: nobody can change what happened. */
  readonly rows: readonly TranscriptRow[];
  readonly characters: number;
}

/** All together. One that is a large part of it is not kept: it would take the place of all others. */
const MOST_CHARACTERS = 4_000_000;

/**
 * TranscriptCache of threads that were held a moment ago: they need not be asked for again. Only whoever holds a thread writes its transcript,
 * and every claim raises its epoch: a mind is as it was as long as nobody else had the thread since.
 */
export class TranscriptCache {
  readonly #kept: LRUCache<string, Kept>;

  constructor({ maxCharacters = MOST_CHARACTERS }: { maxCharacters?: number } = {}) {
    this.#kept = new LRUCache({ maxSize: maxCharacters, maxEntrySize: Math.max(1, Math.floor(maxCharacters / 4)) });
  }

  /** After a cycle that wrote its end: what it leaves to the next one. */
  keep({ lease, rows }: Pick<Cycle, 'lease' | 'rows'>): void {
    const characters = rows.reduce((sum, { payload }) => sum + payload.length, 0);
    const kept = { epoch: lease.epoch, rows: [...rows], characters };
    this.#kept.set(lease.threadId, kept, { size: Math.max(1, characters) });
  }

  /** Undefined: it is not known any more, or somebody else held the thread meanwhile. */
  of({ threadId, epoch }: Lease, { isNew }: { isNew: boolean }): readonly TranscriptRow[] | undefined {
    const kept = this.#kept.get(threadId);
    if (kept === undefined) return undefined;
    if (kept.epoch === (isNew ? epoch - 1 : epoch)) return kept.rows;
    this.forget(threadId);
    return undefined;
  }

  /** The thread was held once more, and nothing was written. */
  renew({ threadId, epoch }: Lease): void {
    const kept = this.#kept.get(threadId);
    if (kept !== undefined) this.#kept.set(threadId, { ...kept, epoch }, { size: Math.max(1, kept.characters) });
  }

  forget(threadId: string): void {
    this.#kept.delete(threadId);
  }
}
