import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Condition } from '../grants/condition.ts';
import { type Copies, mapStrings } from './copies.ts';
import { type Collected, type ErasureJob, inPiece } from './erasure-job.ts';

/**
 * Ends grants whose conditions the person wrote, were made of the input of a run that took the texts, or have a copy of them. Conditions
 * are erased as a whole and together with the end: with a part of them, a grant could cover more than it did.
 */
export async function eraseGrants(job: ErasureJob, { runIds, copies }: Collected): Promise<void> {
  const { store, erasure } = job;
  for (let after = ''; ; ) {
    const grants = await store.db
      .selectFrom('grants')
      .innerJoin('agents', 'agents.id', 'grants.agent_id')
      .select(['grants.id', 'grants.run_id', 'grants.granted_by', 'grants.conditions'])
      .where('grants.id', '>', after)
      .where('grants.conditions', '!=', NONE)
      .where('agents.project_id', '=', erasure.project_id)
      .orderBy('grants.id')
      .limit(store.rowsAtOnce)
      .execute();
    const erased = grants.filter(
      ({ run_id, granted_by, conditions }) =>
        granted_by === erasure.subject_id || runIds.has(run_id) || hasCopy(copies, fromJson(conditions)),
    );
    const ids = erased.map(({ id }) => id);
    if (ids.length > 0)
      await inPiece(job, async (tx) => {
        await tx.db
          .updateTable('grants')
          .set((eb) => ({
            conditions: NONE,
            ended_at: eb.fn.coalesce('ended_at', eb.val(tx.now())),
            end_reason: eb.fn.coalesce('end_reason', eb.val('revoked' as const)),
          }))
          .where('id', 'in', ids)
          .execute();
        return ids.length;
      });
    const last = grants.at(-1);
    if (last === undefined || grants.length < store.rowsAtOnce) return;
    after = last.id;
  }
}

const NONE = '[]';

/** Limits of numbers are no texts. */
function hasCopy(copies: Copies, conditions: readonly Condition[]): boolean {
  const tested = conditions.map(({ field, equals, oneOf }) => ({ field, equals, oneOf }));
  return toJson(mapStrings(tested, (text) => copies.redact(text), true)) !== toJson(tested);
}
