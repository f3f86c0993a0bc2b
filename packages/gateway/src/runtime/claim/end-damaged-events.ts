import { waitingEvents } from '../../domain/inbox/waiting-events.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Json } from '../../ports/store/schema/tables.ts';

/** More than a run takes. */
const MOST_EVENTS = 1_000;

/**
 * Makes the waiting events of a thread dead that cannot be read because their rows are damaged. Otherwise every claim of the thread would fail
 * for ever, and all later events would wait. Called only after a claim has failed, so that no other claim reads anything twice.
 */
export async function endDamagedEvents(
  { store, logger }: Pick<Services, 'store' | 'logger'>,
  threadId: string,
): Promise<void> {
  await store.transaction(async (tx) => {
    for (const { id, event_id: eventId, payload } of await waitingEvents(tx, threadId, MOST_EVENTS)) {
      const problem = problemOf(payload);
      if (problem === undefined) continue;
      const message = `The stored event cannot be read. ${problem}`;
      await tx.db
        .updateTable('inbox_events')
        .set({ status: 'dead', error: toJson({ reason: 'error', error: message }) })
        .where('id', '=', id)
        .where('status', '=', 'pending')
        .execute();
      tx.wake(threadId);
      tx.afterCommit(() => logger.error(`Event ${eventId} of thread ${threadId} is dead. ${message}`));
    }
  });
}

function problemOf(payload: Json): string | undefined {
  try {
    fromJson(payload);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
