import { RunCancelled } from '../../domain/runs/run-cancelled.ts';
import { retryWhileUnavailable } from '../../ports/store/retry-while-unavailable.ts';
import { fenced } from '../lease/lease.ts';
import { asCancelled } from '../run/decide-end.ts';
import type { OpenCard, Write } from '../run/run-write.ts';
import { groupOf } from '../run/shared-writes.ts';
import type { ApplyContext } from './apply-context.ts';
import { type Applied, applyWrites } from './apply-writes.ts';
import { markStored } from './request-texts.ts';
import type { RunJournalOptions } from './run-journal-options.ts';
import { NoLongerShown } from './space-audience.ts';
import type { UnshownWrites } from './unshown-writes.ts';

/** What was written, which may be less or other than what was to be written. */
export interface Committed extends Applied {
  readonly writes: readonly Write[];
}

export function isEnd(write: Write): write is Extract<Write, { kind: 'close-run' }> {
  return write.kind === 'close-run';
}

/** Writes what the journal of a run has decided, a transaction at a time, each fenced by the thread's epoch. */
export class RunTransactions {
  readonly #options: Pick<RunJournalOptions, 'services' | 'run' | 'signal'>;
  readonly #applied: ApplyContext;
  readonly #unshown: UnshownWrites;

  constructor(
    options: Pick<RunJournalOptions, 'services' | 'run' | 'signal'>,
    applied: ApplyContext,
    unshown: UnshownWrites,
  ) {
    this.#options = options;
    this.#applied = applied;
    this.#unshown = unshown;
  }

  /** If a cancel was accepted during the last step, the run ends as cancelled. */
  async commit(writes: readonly Write[]): Promise<Committed> {
    try {
      return await this.#commitShown(writes);
    } catch (error) {
      if (!(error instanceof RunCancelled) || !writes.some(isEnd)) throw error;
      return await this.#commitShown(asCancelled(writes));
    }
  }

  /** If a space no longer sees what the agent shows there, the rest is written without it. */
  async #commitShown(writes: readonly Write[]): Promise<Committed> {
    try {
      return await this.#commitOnce(this.#unshown.without(writes), this.#unshown.cardsIn(writes));
    } catch (error) {
      if (!(error instanceof NoLongerShown)) throw error;
      this.#unshown.add(writes, error.spaceId);
      return await this.#commitShown(writes);
    }
  }

  async #commitOnce(writes: readonly Write[], unopened: readonly OpenCard['card'][]): Promise<Committed> {
    const { services, run, signal } = this.#options;
    const write = (): Promise<() => Applied> =>
      fenced(services.store, run.lease, (_tx, held) => applyWrites(this.#applied, held, writes), {
        group: groupOf(run.lease.threadId, writes),
      });
    // Retries while the lease is certain to last, so that a short outage of the store does not leave the outcome of a
    // call in doubt.
    const applied = (await retryWhileUnavailable(write, { forMs: services.limits.leaseMs, signal }))();
    for (const one of writes) if (one.kind === 'request-text') markStored(services.store, one);
    return { ...applied, writes, refusedCards: [...applied.refusedCards, ...unopened] };
  }
}
