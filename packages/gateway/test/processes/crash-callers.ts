import { expect } from 'vitest';
import type { Crew } from './crew.ts';

/** Kills every gateway that has a lease. All have the same configuration, so the leases show which are at work. */
export async function crashCallers(crew: Crew): Promise<void> {
  const threads = crew.site.db.selectFrom('threads').select('lease_owner').where('lease_owner', 'is not', null);
  const pids = (await threads.execute()).map(({ lease_owner }) => Number(lease_owner?.split(':')[1]));
  const callers = crew.site.gateways.filter(({ pid, isRunning }) => isRunning && pids.includes(pid));
  expect(callers).not.toEqual([]);
  for (const { name } of callers) await crew.crash(name);
}
