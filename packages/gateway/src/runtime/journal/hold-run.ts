import { endedCommands } from '../../domain/inbox/command-result.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { heldReason } from '../../domain/usage/hold-events.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EndingRun } from '../run/active-run.ts';
import type { HeldRun } from '../run/held-run.ts';
import { announceHeld } from './announce-failure.ts';
import { wakeAfterCommands } from './wake-after-commands.ts';

/** Returns the events of the run to the inbox, as if no run had taken them, and tells the people who wait for the agent. */
export async function holdEvents(tx: Tx, ending: EndingRun, { until, personId, text }: HeldRun): Promise<void> {
  const claimed = await tx.db
    .selectFrom('inbox_events')
    .select(['id', 'event_id', 'type', 'attempts', 'payload'])
    .where('run_id', '=', ending.runId)
    .where('status', '=', 'claimed')
    .execute();
  const ended = claimed.some(({ type }) => type === 'command') ? await endedCommands(tx.db, ending.runId) : new Map();
  const events = claimed.map((row) => ({ ...row, event: fromJson<InboxEvent>(row.payload) }));
  const waits = personId === undefined ? () => true : ofPerson(events, personId);
  for (const one of events) {
    const { id, event_id, type, attempts } = one;
    // An answer with the id of a run would be taken for one that was promised that run.
    const run = type === 'tool_result' ? { run_id: null } : {};
    const returned = { status: 'pending' as const, attempts: Math.max(0, attempts - 1), ...run };
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
  const commands = events.filter(({ event_id }) => ended.has(event_id));
  // What a command gave the machine to do is not held to the limit of a person whose message was taken with it.
  const next = personId === undefined ? { at: until, error: heldReason(until) } : { at: tx.now(), error: null };
  await wakeAfterCommands(tx, ending.lease.threadId, commands, next);
  if (events.some((one) => !waits(one))) tx.wake(ending.lease.threadId);
  await announceHeld(tx, ending, { text, until, events: events.filter(waits).map(({ event }) => event) });
}

interface ReadEvent {
  readonly event: InboxEvent;
}

/** What wakes a run for a person: what the person wrote, or else answers to calls that were made for the person. See person-of.ts. */
function ofPerson(events: readonly ReadEvent[], personId: string): (event: ReadEvent) => boolean {
  const isWritten = ({ event }: ReadEvent): boolean =>
    event.type === 'space_message' && event.from.entityId === personId;
  const isAnswer = ({ event }: ReadEvent): boolean => event.type === 'tool_result';
  return [isWritten, isAnswer].find((one) => events.some(one)) ?? (() => true);
}
