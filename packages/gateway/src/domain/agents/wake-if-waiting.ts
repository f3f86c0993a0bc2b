import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { IS_WAITING } from '../inbox/waiting.ts';

/** Wakes the agent if something waits for it, when the first of it may be taken. */
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
