import type { Kysely } from 'kysely';
import { emit, spaceChannel } from '../../domain/streams/emit.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Tables } from '../../ports/store/tables.ts';
import type { Cycle } from './cycle.ts';

/** A call that a space was shown the start of, and no end. */
export interface UnendedCall {
  readonly callId: string;
  readonly kind: 'message' | 'tool';
  readonly spaceId: string;
  /** What was shown of a message's text, or of a tool's input. */
  given: string;
}

/** From what the spaces' channels kept: begun in this run, and not ended. */
export async function unendedCalls(db: Kysely<Tables>, { runId, agent }: Cycle): Promise<UnendedCall[]> {
  const run = await db.selectFrom('runs').select('created_at').where('id', '=', runId).executeTakeFirstOrThrow();
  const spaces = await db
    .selectFrom('memberships')
    .select('space_id')
    .where('entity_id', '=', agent.entityId)
    .execute();
  const begun = new Map<string, UnendedCall>();
  for (const { space_id: spaceId } of spaces) {
    const events = await db
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

/** Tells the space that what it was shown will never be more. */
export function endUnendedCall(
  services: Services,
  tx: Tx,
  { callId, kind, spaceId }: Omit<UnendedCall, 'given'>,
  reason: string,
): void {
  emit(services, tx, {
    channel: spaceChannel(spaceId),
    ...(kind === 'message'
      ? { type: 'message.cancelled', payload: { streamId: callId, reason } }
      : { type: 'tool-call.cancelled', payload: { callId, reason } }),
  });
}

function follow(
  begun: Map<string, UnendedCall>,
  { type, spaceId, runId, payload }: { type: string; spaceId: string; runId: string; payload: Record<string, unknown> },
): void {
  const callId = String(payload.callId ?? payload.streamId);
  switch (type) {
    case 'message.start':
    case 'tool-call.start':
      if (payload.runId === runId)
        begun.set(callId, { callId, spaceId, kind: type === 'message.start' ? 'message' : 'tool', given: '' });
      return;
    case 'message.delta':
    case 'tool-input-delta': {
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
