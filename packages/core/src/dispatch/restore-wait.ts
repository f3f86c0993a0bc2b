import type { Clock } from '../clock.ts';
import { RestoreFailed } from '../errors.ts';
import { settlesWithin } from '../settles-within.ts';

// What is put back after a deadline begins after it: an honest restore needs some time. A session that is given up for one
// that was only slow costs more than the wait.
const GRACE_MS = 5_000;

/**
 * Putting something back, waited for until the deadline and a while longer; without a deadline, for as long as it takes.
 * Rejects with RestoreFailed then: how far it came is not known. An abort does not shorten it, because a state half put
 * back helps nobody.
 */
export async function restoredInTime(
  { clock, deadline }: { readonly clock: Clock; readonly deadline: number | undefined },
  restoring: Promise<unknown>,
): Promise<void> {
  if (deadline === undefined) {
    await restoring;
    return;
  }
  const left = deadline - clock.now() + GRACE_MS;
  if (await settlesWithin(clock, Math.max(GRACE_MS, left), restoring)) return;
  throw new RestoreFailed('It did not finish before the deadline, and how far it came is not known.');
}
