import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { IS_PENDING } from './is-waiting.ts';
import { answerRight } from './may-answer.ts';
import { toWaitingCall } from './waiting-call.ts';

/** The number of waiting calls in each of the spaces: those for this member, or all. */
export async function countWaiting(
  db: Kysely<Tables>,
  spaceIds: readonly string[],
  entityId: string | undefined,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  if (spaceIds.length === 0) return counts;
  const rows = await db
    .selectFrom('calls')
    .leftJoin('memberships', (join) =>
      join
        .onRef('memberships.space_id', '=', 'calls.space_id')
        .on('memberships.entity_id', '=', entityId ?? '')
        .on('memberships.left_at', 'is', null),
    )
    .selectAll('calls')
    .select('memberships.role')
    .where('calls.space_id', 'in', spaceIds)
    .where(IS_PENDING)
    .execute();
  for (const { role, ...row } of rows) {
    const call = toWaitingCall(row);
    const mayAnswer = entityId === undefined || answerRight(call, { entityId, role: role ?? undefined }) === 'yes';
    if (mayAnswer && call.spaceId !== undefined) counts.set(call.spaceId, (counts.get(call.spaceId) ?? 0) + 1);
  }
  return counts;
}
