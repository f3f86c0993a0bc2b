import { setTimeout as sleep } from 'node:timers/promises';

/** Long, because the machine may be busy with other tests. A test with a limit by a law states it itself. */
const PATIENCE_MS = 120_000;

/** Polls until there is a result, instead of waiting for a fixed time. The reason names what is awaited. */
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
    // After seconds it polls less often, because most polls query a database whose processor time all tests share.
    await sleep(Math.min(15 + waitedMs / 20, 150));
  }
}
