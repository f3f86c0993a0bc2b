import { findAnswer, type RunAnswer } from '../../domain/contexts/run-answer.ts';
import { runChannel } from '../../domain/streams/emit.ts';
import type { Services } from '../../ports/services.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';

/**
 * Resolves with what came of the run, wherever it runs. Rejects with a signal's reason if that comes first, which the run does not
 * notice. Notices of the bus tell of the end; the store is asked now and then, since a notice can get lost. A store that is away is
 * asked again: the run is stored, and whoever waits must not be told that nothing was done.
 */
export async function awaitRun(
  { store, bus, limits }: Pick<Services, 'store' | 'bus' | 'limits'>,
  runId: string,
  { signals = [] }: { signals?: readonly AbortSignal[] } = {},
): Promise<RunAnswer> {
  const wake = new Wake();
  const unsubscribe = bus.subscribe(runChannel(runId), ({ seq, event }) => {
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

/** How many sweeps pass between two looks at the store: enough waiting clients would keep it busy otherwise. */
const LOOK_SWEEPS = 5;

/** Something may have happened since the last look. */
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
