import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { GatewayLimits } from '../../config/limits.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { AgentRow, Tables } from '../../ports/store/tables.ts';
import { lockAgent } from '../agents/lock-agent.ts';
import { ApiError } from '../api-error.ts';
import { IS_WAITING } from './waiting.ts';

/** How many events may wait for the agent: as it is configured, or as the gateway allows. */
export function inboxLimit(
  { config }: Pick<AgentRow, 'config'>,
  { inboxLength }: Pick<GatewayLimits, 'inboxLength'>,
): number {
  return fromJson<AgentConfig>(config).limits?.inboxLength ?? inboxLength;
}

/** How many wait now. Whoever decides upon it holds the agent's lock for `inbox`: others add to it meanwhile. */
export async function countWaiting(db: Kysely<Tables>, agentId: string): Promise<number> {
  const counted = await db
    .selectFrom('inbox_events')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('agent_id', '=', agentId)
    .where(IS_WAITING)
    .executeTakeFirstOrThrow();
  return Number(counted.waiting);
}

/** More than are written for one agent at the same moment: a gateway has 20 connections. */
const AT_ONCE = 200;

/**
 * Whether one more event has room in an agent's inbox. `waiting` was counted without the agent's lock, which would make all who write
 * to a busy agent wait for each other. It is enough as long as the limit is far; where it is near, they are counted again behind the
 * lock, so that of two who see the last place one gets it.
 */
export async function hasRoom(
  tx: Tx,
  { agentId, waiting, limit }: { readonly agentId: string; readonly waiting: number; readonly limit: number },
): Promise<boolean> {
  if (waiting + AT_ONCE <= limit) return true;
  await lockAgent(tx, agentId, 'inbox');
  return (await countWaiting(tx.db, agentId)) < limit;
}

/** Long enough for an agent that works to have taken a batch. */
const RETRY_SECONDS = 5;

export function inboxFull(agentId: string, limit: number): ApiError {
  return new ApiError(429, 'inbox_full', `Agent "${agentId}" has a full inbox (${limit} events). Try again later.`, {
    details: { agentId, limit },
    retryAfter: RETRY_SECONDS,
  });
}
