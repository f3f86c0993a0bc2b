import { fromJson } from '../../src/ports/store/schema/json.ts';
import { request } from '../processes/api.ts';
import type { Site } from '../processes/site.ts';
import type { Fleet } from './fleet.ts';

/**
 * Puts events back whose run was taken over too often without progress, as an operator would, and returns how many. The storm leaves
 * each run one loss that it bears, but on a busy machine a gateway may also stall by itself for longer than its short lease. An event
 * that is still dead in the end is a problem.
 */
export async function redriveLost({ db }: Pick<Site, 'db'>, fleet: Fleet): Promise<number> {
  const dead = await db.selectFrom('inbox_events').selectAll().where('status', '=', 'dead').execute();
  const lost = dead.filter(({ error }) => fromJson<{ code?: string }>(error ?? '{}').code === 'no_progress');
  for (const { thread_id, event_id } of lost)
    await request(fleet.urls[0] ?? '', `/api/agents/${thread_id}/inbox/redrive`, { body: { eventIds: [event_id] } });
  return lost.length;
}
