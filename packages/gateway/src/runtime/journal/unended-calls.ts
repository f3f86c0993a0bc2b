import type { Kysely } from 'kysely';
import { spaceStream } from '../../domain/streams/stream-names.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { EndingRun } from '../run/active-run.ts';
import { cancelled } from '../run/decide-shown-call.ts';
import type { ShownCall } from '../run/run-state.ts';

/** Finds the calls of this run that were shown and have not ended, in the stored events of the spaces. */
export async function unendedCalls(
  db: Kysely<Tables>,
  { runId, agent, kind }: Pick<EndingRun, 'runId' | 'agent' | 'kind'>,
): Promise<ShownCall[]> {
  if (!kind.hasSpaces) return [];
  const run = await db.selectFrom('runs').select('created_at').where('id', '=', runId).executeTakeFirstOrThrow();
  const spaces = await db
    .selectFrom('memberships')
    .select('space_id')
    .where('entity_id', '=', agent.entityId)
    .execute();
  const unended = new Map<string, ShownCall>();
  for (const { space_id: spaceId } of spaces) {
    const events = await db
      .selectFrom('stream_events')
      .select(['type', 'payload'])
      .where('stream', '=', spaceStream(spaceId))
      .where('created_at', '>=', run.created_at)
      .orderBy('seq')
      .execute();
    for (const { type, payload } of events) trackEvent(unended, { type, spaceId, runId, payload: fromJson(payload) });
  }
  return [...unended.values()];
}

/** Shows the space that a call will not continue. */
export function endUnendedCall(tx: Tx, call: Omit<ShownCall, 'shownText'>, reason: string): void {
  const { spaceId, type, payload } = cancelled(call, reason);
  tx.emit({ stream: spaceStream(spaceId), type, payload });
}

/**
 * Shows the space that it sees no more of a call, because the agent is no longer in it, or because it is archived. The call goes on, so the
 * reason does not say that it never runs. The stream has no other end for a call without a card.
 */
export function endUnseenCall(tx: Tx, { callId, spaceId }: Pick<ShownCall, 'callId' | 'spaceId'>): void {
  endUnendedCall(tx, { callId, kind: 'tool', spaceId }, NO_LONGER_SHOWN);
}

const NO_LONGER_SHOWN =
  'No longer shown here: the agent is no longer in the space, or the space is archived. The call may still run.';

function trackEvent(
  unended: Map<string, ShownCall>,
  { type, spaceId, runId, payload }: { type: string; spaceId: string; runId: string; payload: Record<string, unknown> },
): void {
  const callId = String(payload.callId ?? payload.streamId);
  switch (type) {
    case 'message.start':
    case 'tool-call.start':
      if (payload.runId === runId)
        unended.set(callId, { callId, spaceId, kind: type === 'message.start' ? 'message' : 'tool', shownText: '' });
      return;
    case 'message.delta':
    case 'tool-input-delta': {
      const known = unended.get(callId);
      if (known !== undefined) unended.set(callId, { ...known, shownText: known.shownText + String(payload.delta) });
      return;
    }
    case 'message.complete':
    case 'message.cancelled':
    case 'tool-call.complete':
    case 'tool-call.error':
    case 'tool-call.cancelled':
    case 'tool-call.requires-action':
    case 'tool-call.expired':
      unended.delete(callId);
      return;
    default:
      return;
  }
}
