import type { Services } from '../services.ts';
import { fromJson } from '../store/json.ts';
import { emit, spaceChannel } from '../streams/emit.ts';
import type { Cycle } from './cycle.ts';
import type { CycleJournal } from './cycle-journal.ts';
import type { LiveCalls } from './live-calls.ts';

interface Begun {
  readonly callId: string;
  readonly kind: 'message' | 'tool';
  readonly spaceId: string;
  given: string;
}

/**
 * What a dead worker had begun to show of this run. Calls that it got to ask for end when they are settled; those of a reply that
 * never came whole are asked for again under new ids, and end here.
 */
export async function adoptShown(
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
  const begun = await begunBy(services, cycle);
  const lost = begun.filter(({ callId }) => !asked.has(callId));
  for (const one of begun) if (asked.has(one.callId)) live.adopt(one);
  if (lost.length === 0) return;
  await journal.perform(async (tx) => {
    const reason = 'The worker died while it was written.';
    for (const { callId, kind, spaceId } of lost)
      emit(services, tx, {
        channel: spaceChannel(spaceId),
        ...(kind === 'message'
          ? { type: 'message.cancelled', payload: { streamId: callId, reason } }
          : { type: 'tool-call.cancelled', payload: { callId, reason } }),
      });
  });
}

/**
 * Calls that somebody allowed to run. Their cards are in the space where they were asked for, wherever the agent is now, and were
 * told to have started when the leave was given.
 */
export async function adoptApproved({ store }: Services, cycle: Cycle, live: LiveCalls): Promise<void> {
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
    live.adopt({ callId, kind: 'tool', spaceId, given: '' });
  }
}

async function cardsOf({ store }: Services, { runId }: Cycle): Promise<{ callId: string | null }[]> {
  return await store.db
    .selectFrom('messages')
    .select('call_id as callId')
    .where('run_id', '=', runId)
    .where('kind', '=', 'tool')
    .execute();
}

/** From what the spaces' channels kept: begun in this run, and not ended. */
async function begunBy({ store }: Services, { runId, agent }: Cycle): Promise<Begun[]> {
  const run = await store.db.selectFrom('runs').select('created_at').where('id', '=', runId).executeTakeFirstOrThrow();
  const spaces = await store.db
    .selectFrom('memberships')
    .select('space_id')
    .where('entity_id', '=', agent.entityId)
    .execute();
  const begun = new Map<string, Begun>();
  for (const { space_id: spaceId } of spaces) {
    const events = await store.db
      .selectFrom('stream_events')
      .select(['type', 'payload'])
      .where('channel', '=', spaceChannel(spaceId))
      .where('created_at', '>=', run.created_at)
      .orderBy('seq')
      .execute();
    for (const { type, payload } of events) follow(begun, { type, spaceId, runId, payload: fromJson(payload) });
  }
  return [...begun.values()];
}

function follow(
  begun: Map<string, Begun>,
  { type, spaceId, runId, payload }: { type: string; spaceId: string; runId: string; payload: Record<string, unknown> },
): void {
  const callId = String(payload.callId ?? payload.streamId);
  switch (type) {
    case 'message.start':
    case 'tool-call.start':
      if (payload.runId === runId)
        begun.set(callId, { callId, spaceId, kind: type === 'message.start' ? 'message' : 'tool', given: '' });
      return;
    case 'message.delta': {
      const known = begun.get(callId);
      if (known !== undefined) known.given += String(payload.delta);
      return;
    }
    case 'message.complete':
    case 'message.cancelled':
    case 'tool-call.complete':
    case 'tool-call.error':
    case 'tool-call.cancelled':
    case 'tool-call.requires-action':
    case 'tool-call.expired':
      begun.delete(callId);
      return;
    default:
      return;
  }
}
