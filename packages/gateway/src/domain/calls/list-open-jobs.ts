import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { readRows } from '../entities/page.ts';
import { IS_PENDING } from './is-waiting.ts';
import { type JobOffer, toOffer } from './job-events.ts';
import { toWaitingCall } from './waiting-call.ts';

/** A worker that has finished these finds the others when it subscribes again, or in the list of waiting calls. */
const MOST_OFFERS = 1_000;

/** The jobs of an agent that a worker could claim now, oldest first. */
export async function listOpenJobs(db: Kysely<Tables>, agentId: string, now: number): Promise<JobOffer[]> {
  const rows = await db
    .selectFrom('calls')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where(IS_PENDING)
    .where('wait_kind', '=', 'result')
    .where('offered_at', 'is not', null)
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
    .orderBy('id')
    .limit(MOST_OFFERS)
    .execute();
  // A damaged job is named in the list of waiting calls.
  return readRows(rows, {
    idOf: ({ id }) => id,
    toItem: (row) => toOffer({ ...toWaitingCall(row), claims: row.claims }),
  }).items as JobOffer[];
}
