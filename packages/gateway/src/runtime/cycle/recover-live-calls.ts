import type { Services } from '../../ports/services.ts';
import type { Cycle } from './cycle.ts';
import type { CycleJournal } from './cycle-journal.ts';
import type { LiveCalls } from './live-calls.ts';
import { endUnendedCall, unendedCalls } from './unended-calls.ts';
import { writtenInput } from './written-input.ts';

/**
 * What a dead worker had begun to show of this run. Calls that it got to ask for end when they are settled; those of a reply that
 * never came whole are asked for again under new ids, and end here.
 */
export async function recoverLiveCalls(
  services: Services,
  cycle: Cycle,
  { live, journal }: { live: LiveCalls; journal: CycleJournal },
): Promise<void> {
  const asked = new Set(
    cycle.transcript.entries.flatMap((entry) =>
      entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [],
    ),
  );
  for (const { callId } of await cardsOf(services, cycle)) if (callId !== null) cycle.cards.add(callId);
  const begun = await unendedCalls(services.store.db, cycle);
  const lost = begun.filter(({ callId }) => !asked.has(callId));
  for (const one of begun) if (asked.has(one.callId)) live.adopt(one);
  if (lost.length === 0) return;
  await journal.perform(async (tx) => {
    for (const one of lost) endUnendedCall(services, tx, one, 'The reply broke off.');
  });
}

/**
 * Calls that somebody allowed to run. Their cards are in the space where they were asked for, wherever the agent is now, and were
 * told to have started when the leave was given.
 */
export async function recoverApprovedCalls({ store }: Services, cycle: Cycle, live: LiveCalls): Promise<void> {
  const callIds = Object.keys(cycle.answers);
  if (callIds.length === 0) return;
  const cards = await store.db
    .selectFrom('messages')
    .select(['call_id', 'space_id'])
    .where('call_id', 'in', callIds)
    .where('status', '=', 'running')
    .execute();
  for (const { call_id: callId, space_id: spaceId } of cards) {
    if (callId === null) continue;
    cycle.cards.add(callId);
    // Its input was shown when it was asked for.
    live.adopt({ callId, kind: 'tool', spaceId, given: writtenInput(cycle.transcript, callId) });
  }
}

/** By way of the calls, which are found by their run; messages are not, and there are many more of them. */
async function cardsOf({ store }: Services, { runId }: Cycle): Promise<{ callId: string | null }[]> {
  return await store.db
    .selectFrom('calls')
    .innerJoin('messages', 'messages.call_id', 'calls.id')
    .select('messages.call_id as callId')
    .where('calls.run_id', '=', runId)
    .where('messages.kind', '=', 'tool')
    .execute();
}
