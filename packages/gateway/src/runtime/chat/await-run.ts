import { findAnswer, type RunAnswer } from '../../domain/conversations/run-answer.ts';
import { runStream } from '../../domain/streams/stream-names.ts';
import type { Services } from '../../ports/services.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';

/**
 * Resolves with the answer of the run, on whatever gateway it runs. Rejects with `not_found` if the conversation was
 * deleted, and with a signal's reason if that is aborted first; then the run goes on. Notices of the bus report the end,
 * and the store is also read from time to time, because a notice can get lost. If the store is unavailable, it is read
 * again later: the run is stored, so the caller must not get an error as if nothing had been done.
 */
export async function awaitRun(
  { store, bus, limits }: Pick<Services, 'store' | 'bus' | 'limits'>,
  runId: string,
  { signals = [] }: { signals?: readonly AbortSignal[] } = {},
): Promise<RunAnswer> {
  const wake = new Wake();
  const unsubscribe = bus.subscribe(runStream(runId), ({ seq, event }) => {
    if (seq === 0 || event === undefined || event.type === 'run.end') wake.now();
  });
  const timer = setInterval(() => wake.now(), LOOK_SWEEPS * limits.sweepMs);
  const onAbort = (): void => wake.now();
  for (const signal of signals) signal.addEventListener('abort', onAbort);
  try {
    for (;;) {
      for (const signal of signals) signal.throwIfAborted();
      const answer = await findAnswer(store.db, runId).catch(ignoreOutage);
      if (answer !== undefined) return answer;
      await wake.next();
    }
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', onAbort);
    clearInterval(timer);
    unsubscribe();
  }
}

function ignoreOutage(error: unknown): undefined {
  if (!(error instanceof StoreUnavailable)) throw error;
}

/**
 * How many sweeps pass between two reads of the store. With more frequent reads, many waiting clients would keep it
 * busy.
 */
const LOOK_SWEEPS = 5;

/** Signals that something may have happened since the last read. */
class Wake {
  #woken: PromiseWithResolvers<void> = Promise.withResolvers();

  now(): void {
    this.#woken.resolve();
  }

  async next(): Promise<void> {
    await this.#woken.promise;
    this.#woken = Promise.withResolvers();
  }
}
