import type { Logger } from '@lastcall/core';
import type { Services } from '../ports/services.ts';
import { StoreUnavailable } from '../ports/store/store-error.ts';

interface Work<T> {
  /** The beginning of the sentence that is logged if it fails, e.g. "Call 1 could not be expired". */
  readonly failed: (item: T) => string;
  /** Returns true if it did something. */
  readonly work: (item: T) => Promise<boolean>;
}

/** A sweep meets the same damaged row every second, until an operator repairs it. */
const REPORT_MS = 3_600_000;

/** The lines that each log got, and until when it does not get them again. */
const reported = new WeakMap<Logger, Map<string, number>>();

/**
 * Does the work for each item, and returns for how many it did something. An item whose row is damaged is logged, once an hour while it fails
 * in the same way, and does not hold up those of other agents.
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
      report(logger, failed(item), error);
    }
  return done;
}

function report(logger: Logger, failure: string, error: unknown): void {
  const text = `${failure}, and is tried again: ${error instanceof Error ? error.message : String(error)}`;
  const lines = reported.get(logger) ?? new Map<string, number>();
  reported.set(logger, lines);
  const now = performance.now();
  for (const [line, quietUntil] of lines) if (now >= quietUntil) lines.delete(line);
  if (lines.has(text)) return;
  lines.set(text, now + REPORT_MS);
  logger.error(text, error);
}
