import type { Kysely } from 'kysely';
import { ApiError } from '../api-error.ts';
import type { Tables } from '../store/tables.ts';
import { IS_WAITING } from './waiting.ts';

/** How many events wait for each of these agents. Those with none are left out. */
export async function countWaiting(
  db: Kysely<Tables>,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (agentIds.length === 0) return new Map();
  const counted = await db
    .selectFrom('inbox_events')
    .select((eb) => ['agent_id', eb.fn.countAll<number>().as('waiting')])
    .where('agent_id', 'in', agentIds)
    .where(IS_WAITING)
    .groupBy('agent_id')
    .execute();
  return new Map(counted.map(({ agent_id, waiting }) => [agent_id, Number(waiting)]));
}

/** Long enough for an agent that works to have taken a batch. */
const RETRY_SECONDS = 5;

export function inboxFull(agentId: string, limit: number): ApiError {
  return new ApiError(429, 'inbox_full', `${limit} events wait for agent "${agentId}" already. Try again later.`, {
    details: { agentId, limit },
    retryAfter: RETRY_SECONDS,
  });
}
