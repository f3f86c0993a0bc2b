import { sql } from 'kysely';
import { toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';

/** Why an event waits until a time. It is stored as the event's error. */
export function heldReason(until: number): string {
  return toJson({ reason: 'budget', until });
}

/** Matches what `heldReason` wrote: our own JSON, which has no spaces. */
const IS_HELD = sql<boolean>`substr(error, 1, 18) = '{"reason":"budget"'`;

/** True if events of the agent wait for the next day. */
export async function hasHeld(tx: Tx, agentId: string): Promise<boolean> {
  const held = tx.db
    .selectFrom('inbox_events')
    .select('id')
    .where('thread_id', '=', agentId)
    .where(sql<boolean>`inbox_events.status = 'pending'`)
    .where(IS_HELD);
  return (await held.limit(1).executeTakeFirst()) !== undefined;
}

/** Lets events that wait for the next day run now: a limit may have been raised. If it was not, they wait again. */
export async function releaseHeld(tx: Tx, agentId?: string): Promise<void> {
  let query = tx.db
    .updateTable('inbox_events')
    .set({ available_at: tx.now(), error: null })
    .where(sql<boolean>`inbox_events.status = 'pending'`)
    .where(IS_HELD);
  if (agentId !== undefined) query = query.where('thread_id', '=', agentId);
  const released = await query.returning('thread_id').execute();
  for (const threadId of new Set(released.map(({ thread_id }) => thread_id))) tx.wake(threadId);
}
