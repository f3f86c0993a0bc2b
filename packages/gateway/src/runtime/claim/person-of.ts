import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import type { Tx } from '../../ports/store/store.ts';

/**
 * The person for whom a run works: the first whose message woke it, or the caller of a conversation. An answer to a call continues the
 * work for the person for whom the call was made. Null if there is none.
 */
export async function personOf(tx: Tx, events: readonly WaitingEvent[]): Promise<string | null> {
  for (const { event } of events) {
    if (event.type === 'space_message' && event.from.kind === 'human') return event.from.entityId;
    if (event.type === 'chat' && event.entityId !== undefined) return event.entityId;
  }
  const callIds = events.flatMap(({ event }) => (event.type === 'tool_result' ? [event.callId] : []));
  if (callIds.length === 0) return null;
  const asked = await tx.db
    .selectFrom('calls')
    .innerJoin('runs', 'runs.id', 'calls.run_id')
    .select('runs.entity_id')
    .where('calls.id', 'in', callIds)
    .where('runs.entity_id', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return asked?.entity_id ?? null;
}
