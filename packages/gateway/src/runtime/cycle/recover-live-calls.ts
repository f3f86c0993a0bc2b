import type { Services } from '../../ports/services.ts';
import type { Cycle } from './cycle.ts';
import type { CycleJournal } from './cycle-journal.ts';
import type { LiveCalls } from './live-calls.ts';
import { rawInput } from './raw-input.ts';
import { endUnendedCall, unendedCalls } from './unended-calls.ts';

/**
 * Restores what a dead worker had started to show of this run. Calls of a complete reply end when they are settled.
 * Calls of an incomplete reply are cancelled here, because the model is asked again and gives new ids.
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
  const unended = await unendedCalls(services.store.db, cycle);
  const lost = unended.filter(({ callId }) => !asked.has(callId));
  for (const call of unended) if (asked.has(call.callId)) live.restore(call);
  if (lost.length === 0) return;
  await journal.transaction(async (tx) => {
    for (const call of lost) endUnendedCall(services, tx, call, 'The reply broke off.');
  });
}

/**
 * Restores the cards of approved calls. They are in the space where the approval was asked for, wherever the agent is
 * now, and show the call as running since it was approved.
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
    // The input was shown when the approval was asked for.
    live.restore({ callId, kind: 'tool', spaceId, shownText: rawInput(cycle.transcript, callId) });
  }
}

/** Finds the cards through the calls, which are indexed by run. Messages are not, and there are many more of them. */
async function cardsOf({ store }: Services, { runId }: Cycle): Promise<{ callId: string | null }[]> {
  return await store.db
    .selectFrom('calls')
    .innerJoin('messages', 'messages.call_id', 'calls.id')
    .select('messages.call_id as callId')
    .where('calls.run_id', '=', runId)
    .where('messages.kind', '=', 'tool')
    .execute();
}
