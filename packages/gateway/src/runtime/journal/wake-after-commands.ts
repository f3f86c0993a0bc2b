import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { pushEvent } from '../../domain/inbox/push-event.ts';
import { IS_WAITING } from '../../domain/inbox/waiting-events.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { InboxEventRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';

interface NextWake {
  readonly at: number;
  /** Why the machine waits until then. */
  readonly error: string | null;
}

/**
 * Wakes a machine whose run stopped after its commands, unless another event does: what they gave it to do, e.g. a child that one spawned, would
 * otherwise wait for an event that has nothing to do with it. The command itself has run and is done, so another event wakes the machine.
 * Returns false if there is nothing to wake it for.
 */
export async function wakeAfterCommands(
  tx: Tx,
  threadId: string,
  [command]: readonly Pick<InboxEventRow, 'event_id' | 'payload'>[],
  { at, error }: NextWake,
): Promise<boolean> {
  if (command === undefined || (await isWokenBy(tx, threadId, at))) return false;
  const eventId = `after-${command.event_id}`;
  const event = {
    ...fromJson<Extract<InboxEvent, { type: 'command' }>>(command.payload),
    input: {},
    hasRun: true,
  } as const;
  await pushEvent(tx, { threadId, eventId, event });
  await tx.db
    .updateTable('inbox_events')
    .set({ available_at: at, error })
    .where('thread_id', '=', threadId)
    .where('event_id', '=', eventId)
    .execute();
  return true;
}

/** True if another event wakes the machine before that time. One that waits for the next day, because a person has spent a limit, may come later. */
async function isWokenBy(tx: Tx, threadId: string, at: number): Promise<boolean> {
  const waiting = tx.db.selectFrom('inbox_events').select('id').where('thread_id', '=', threadId).where(IS_WAITING);
  return (await waiting.where('available_at', '<=', at).limit(1).executeTakeFirst()) !== undefined;
}
