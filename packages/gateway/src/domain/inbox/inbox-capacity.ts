import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { GatewayLimits } from '../../config/limits.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { lockAgent } from '../agents/lock-agent.ts';
import { ApiError } from '../api-error.ts';
import { IS_WAITING } from './waiting-events.ts';

/** How many events may wait for the agent: its own limit, or else the gateway's. */
export function inboxLimit(
  { config }: Pick<AgentRow, 'config'>,
  { inboxLength }: Pick<GatewayLimits, 'inboxLength'>,
): number {
  return fromJson<AgentConfig>(config).limits?.inboxLength ?? inboxLength;
}

/**
 * Counts the waiting events. To decide on the number, hold the agent's lock for `inbox`: otherwise others add events
 * meanwhile.
 */
export async function countWaiting(db: Kysely<Tables>, agentId: string): Promise<number> {
  const [counted] = await countOf(db, { agentId });
  return Number(counted?.waiting ?? 0);
}

/** The same for many agents. One without waiting events is missing. */
export async function countWaitingOfAll(db: Kysely<Tables>, agentIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('inbox_events')
    .select((eb) => ['thread_id', eb.fn.countAll<number>().as('waiting')])
    .where('thread_id', 'in', agentIds)
    .where(IS_WAITING)
    .groupBy('thread_id')
    .execute();
  return new Map(rows.map(({ thread_id, waiting }) => [thread_id, Number(waiting)]));
}

const countOf = statement(
  (db, { agentId }: Params<{ agentId: string }>) =>
    db
      .selectFrom('inbox_events')
      .select((eb) => eb.fn.countAll<number>().as('waiting'))
      .where('thread_id', '=', agentId)
      .where(IS_WAITING),
  { types: { agentId: 'text' } },
);

/**
 * About as many events as four gateways can write for one agent at the same moment: each has six connections, and four more for groups of
 * 24. With more of them the limit could be passed by some.
 */
const MAX_CONCURRENT_PUSHES = 400;

/**
 * True if the agent's inbox has room for one more event. `waiting` was counted without the agent's lock, which would
 * make all writers to a busy agent wait for each other. That is enough while the limit is far. Near the limit the
 * events are counted again under the lock, so that two writers cannot both take the last place.
 */
export async function hasRoom(
  tx: Tx,
  { agentId, waiting, limit }: { readonly agentId: string; readonly waiting: number; readonly limit: number },
): Promise<boolean> {
  if (waiting + MAX_CONCURRENT_PUSHES <= limit) return true;
  await lockAgent(tx, agentId, 'inbox');
  return (await countWaiting(tx.db, agentId)) < limit;
}

/** Long enough for a working agent to take a batch. */
const RETRY_SECONDS = 5;

export function inboxFull(agentId: string, limit: number): ApiError {
  return new ApiError('inbox_full', `Agent "${agentId}" has a full inbox (${limit} events). Try again later.`, {
    details: { agentId, limit },
    retryAfter: RETRY_SECONDS,
  });
}
