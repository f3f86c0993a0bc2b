import type { Services } from '../ports/services.ts';
import { StoreUnavailable } from '../ports/store/store-error.ts';

interface Work<T> {
  /** The beginning of the sentence that is logged if it fails, e.g. "Call 1 could not be expired". */
  readonly failed: (item: T) => string;
  /** Returns true if it did something. */
  readonly work: (item: T) => Promise<boolean>;
}

/**
 * Does the work for each item, and returns for how many it did something. An item whose row is damaged is logged, and does not hold up
 * those of other agents.
 */
export async function doEach<T>(
  { logger }: Pick<Services, 'logger'>,
  items: readonly T[],
  { failed, work }: Work<T>,
): Promise<number> {
  let done = 0;
  for (const item of items)
    try {
      if (await work(item)) done += 1;
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      logger.error(
        `${failed(item)}, and is tried again: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
  return done;
}
