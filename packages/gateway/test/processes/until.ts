import { setTimeout as sleep } from 'node:timers/promises';

/** Generous: a machine may be busy with other tests. What has a limit of its own by a law says so where it is tested. */
const PATIENCE_MS = 120_000;

/** Asks until there is something: not for a while, but for a reason. */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const given = await ask();
    if (given !== undefined && given !== false) return given;
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > patienceMs) throw new Error(`Waited ${patienceMs} ms in vain for this: ${what}.`);
    // What takes seconds is asked for less often: most questions go to a database, and all tests share its processor time.
    await sleep(Math.min(15 + waitedMs / 20, 150));
  }
}
