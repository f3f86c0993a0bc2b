import { fromJson } from '../../src/ports/store/schema/json.ts';
import { request } from '../processes/api.ts';
import type { Site } from '../processes/site.ts';
import type { Fleet } from './fleet.ts';

/**
 * Redrives events whose run was taken over too often without progress, once, as an operator would. Returns the redriven ones. The
 * storm never uses up the last loss that a run can bear, but on a busy machine a gateway may also stall for longer than its short lease.
 * An event that is still dead at the end is a problem.
 */
export async function redriveLost(
  { db }: Pick<Site, 'db'>,
  fleet: Fleet,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const dead = await db.selectFrom('inbox_events').selectAll().where('status', '=', 'dead').execute();
  const lost = dead.filter(({ error }) => fromJson<{ code?: string }>(error ?? '{}').code === 'no_progress');
  const redriven: string[] = [];
  for (const { thread_id, event_id, run_id } of lost) {
    const run = await db
      .selectFrom('runs')
      .select('takeovers')
      .where('id', '=', run_id ?? '')
      .executeTakeFirst();
    log(`Event ${event_id} is redriven. Its run was taken over: ${run?.takeovers}`);
    const path = `/api/agents/${thread_id}/inbox/redrive`;
    const { body } = await request(fleet.urls[0] ?? '', path, { body: { eventIds: [event_id] } });
    redriven.push(...((body.eventIds as string[] | undefined) ?? []));
  }
  return redriven;
}
