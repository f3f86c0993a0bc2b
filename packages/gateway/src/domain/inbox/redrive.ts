import type { Tx } from '../../ports/store/store.ts';
import { lockAgent } from '../agents/lock-agent.ts';
import { isId } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';

export interface Redrive {
  readonly agentId: string;
  /** At most 1,000. Default: all dead and withheld events. */
  readonly eventIds?: readonly string[] | undefined;
}

const MAX_EVENTS = 1_000;

/**
 * Puts dead and withheld events back into the inbox, as if they had just arrived. Other events stay unchanged. Returns their ids.
 */
export async function redrive(tx: Tx, { agentId, eventIds }: Redrive): Promise<readonly string[]> {
  if (eventIds !== undefined && eventIds.length > MAX_EVENTS)
    throw invalid('eventIds', `must be ${MAX_EVENTS} entries or less, not ${eventIds.length}.`);
  await lockAgent(tx, agentId, 'share');
  if (eventIds?.length === 0) return [];
  let query = tx.db
    .updateTable('inbox_events')
    .set((eb) => ({
      ...{ status: 'pending' as const, attempts: 0, available_at: tx.now(), run_id: null, error: null },
      redriven_from: eb.ref('run_id'),
    }))
    .where('thread_id', '=', agentId)
    .where('status', 'in', ['dead', 'withheld']);
  if (eventIds !== undefined) query = query.where('event_id', 'in', eventIds.filter(isId));
  const redriven = await query.returning('event_id').execute();
  if (redriven.length > 0) tx.wake(agentId);
  return redriven.map(({ event_id }) => event_id);
}
