import { getHeapStatistics } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import { charactersOf } from '../../domain/transcript/past-transcript.ts';
import { type SessionState, sizeOfState } from '../../domain/transcript/restore-session.ts';
import type { Lease } from '../lease/lease.ts';
import type { KnownTranscript } from './read-thread.ts';

/** The transcript of a thread when it was last held. */
interface CachedTranscript {
  readonly epoch: number;
  /** The rows as they were written. Each is parsed once: see past-transcript.ts. */
  readonly rows: readonly TranscriptRow[];
  readonly characters: number;
}

/**
 * The limit for all cached transcripts together: a share of the memory that the process may use, because characters and what was parsed
 * from them take several times as many bytes. With 4 GB it fits a thousand agents that take turns, with about forty runs each. If they
 * did not fit, each would be evicted before its next turn, and the cache would never hit. A single transcript above a quarter of the limit
 * is not cached, because it would evict all others.
 */
const MAX_CHARACTERS = Math.max(16_000_000, Math.floor(getHeapStatistics().heap_size_limit / 64));

/**
 * Caches the transcripts of threads that were held recently, so that they need not be read again. Only the holder of a
 * thread writes its transcript, and every claim raises the epoch: the cached rows are valid if no other worker has
 * claimed the thread since.
 */
export class TranscriptCache {
  readonly #cached: LRUCache<string, CachedTranscript>;
  /** The snapshots, by the rows that are cached. */
  readonly #states = new WeakMap<readonly TranscriptRow[], SessionState | undefined>();

  constructor({ maxCharacters = MAX_CHARACTERS }: { maxCharacters?: number } = {}) {
    this.#cached = new LRUCache({ maxSize: maxCharacters, maxEntrySize: Math.max(1, Math.floor(maxCharacters / 4)) });
  }

  /** Caches the rows of a run that stored its end. */
  put({
    lease,
    rows,
    state,
  }: {
    lease: Lease;
    rows: readonly TranscriptRow[];
    state?: SessionState | undefined;
  }): void {
    // A machine that is kept between runs is about as large as its snapshot.
    const characters = charactersOf(rows) + sizeOfState(state);
    this.#states.set(rows, state);
    const cached = { epoch: lease.epoch, rows, characters };
    this.#cached.set(lease.threadId, cached, { size: Math.max(1, characters) });
  }

  /** The cached rows with the snapshot that they follow. */
  known(rows: readonly TranscriptRow[] | undefined): KnownTranscript | undefined {
    return rows === undefined ? undefined : { rows, state: this.#states.get(rows) };
  }

  /** The cached rows, which may be outdated. `get` checks that once the epoch is known. */
  peek(threadId: string): readonly TranscriptRow[] | undefined {
    return this.#cached.get(threadId)?.rows;
  }

  /** Returns undefined if nothing is cached or another worker has held the thread since. */
  get({ threadId, epoch }: Lease, { isNewClaim }: { isNewClaim: boolean }): readonly TranscriptRow[] | undefined {
    const cached = this.#cached.get(threadId);
    if (cached === undefined) return undefined;
    if (cached.epoch === (isNewClaim ? epoch - 1 : epoch)) return cached.rows;
    this.forget(threadId);
    return undefined;
  }

  /** The thread was claimed again, but nothing was written. */
  updateEpoch({ threadId, epoch }: Lease): void {
    const cached = this.#cached.get(threadId);
    if (cached !== undefined)
      this.#cached.set(threadId, { ...cached, epoch }, { size: Math.max(1, cached.characters) });
  }

  forget(threadId: string): void {
    this.#cached.delete(threadId);
  }
}
