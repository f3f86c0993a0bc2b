import type { Clock } from '../clock.ts';
import { RestoreFailed } from '../errors.ts';
import { settlesWithin } from '../settles-within.ts';

// A rollback after a deadline starts after it, so a normal restore needs some time. Giving up a session because of a
// slow restore costs more than the wait.
const GRACE_MS = 5_000;

/**
 * Waits for a rollback until the deadline and a while longer; without a deadline, for as long as it takes. Then rejects
 * with RestoreFailed, because the state is not known. An abort does not shorten the wait: a half-restored state is of
 * no use.
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
