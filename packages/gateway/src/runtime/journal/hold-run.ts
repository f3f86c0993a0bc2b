import { endedCommands } from '../../domain/inbox/command-result.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { heldReason } from '../../domain/usage/hold-events.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EndingRun } from '../run/active-run.ts';
import type { HeldRun } from '../run/held-run.ts';
import { announceHeld } from './announce-failure.ts';

/** Returns the events of the run to the inbox, as if no run had taken them, and tells the people who wait for the agent. */
export async function holdEvents(tx: Tx, run: EndingRun, { until, personId, text }: HeldRun): Promise<void> {
  const claimed = await tx.db
    .selectFrom('inbox_events')
    .select(['id', 'event_id', 'type', 'attempts', 'payload'])
    .where('run_id', '=', run.runId)
    .where('status', '=', 'claimed')
    .execute();
  const ended = claimed.some(({ type }) => type === 'command') ? await endedCommands(tx.db, run.runId) : new Map();
  const events = claimed.map((row) => ({ ...row, event: fromJson<InboxEvent>(row.payload) }));
  const isTheirs = ({ event }: { readonly event: InboxEvent }): boolean =>
    event.type === 'space_message' && event.from.entityId === personId;
  const waits = personId === undefined || !events.some(isTheirs) ? () => true : isTheirs;
  for (const one of events) {
    const { id, event_id, attempts } = one;
    const returned = { status: 'pending' as const, attempts: Math.max(0, attempts - 1) };
    const isHeld = waits(one);
    await tx.db
      .updateTable('inbox_events')
      .set(
        // A command runs once, also if the run was stopped after it.
        ended.has(event_id)
          ? { status: 'done' }
          : { ...returned, available_at: isHeld ? until : tx.now(), error: isHeld ? heldReason(until) : null },
      )
      .where('id', '=', id)
      .execute();
  }
  if (events.some((one) => !waits(one))) tx.wake(run.lease.threadId);
  await announceHeld(tx, run, { text, until, events: events.filter(waits).map(({ event }) => event) });
}
