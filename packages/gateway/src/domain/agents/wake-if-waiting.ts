import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { IS_WAITING } from '../waiting-events.ts';

/** Wakes the agent at the time its first waiting event is available, if one waits. */
export async function wakeIfWaiting({ engine }: Pick<Services, 'engine'>, tx: Tx, agentId: string): Promise<void> {
  const first = await tx.db
    .selectFrom('inbox_events')
    .select((eb) => eb.fn.min('available_at').as('at'))
    .where('agent_id', '=', agentId)
    .where(IS_WAITING)
    .executeTakeFirst();
  const at = first?.at;
  if (at === null || at === undefined) return;
  if (at <= tx.now()) await engine.enqueue(tx, agentId);
  else await engine.enqueue(tx, agentId, at);
}
