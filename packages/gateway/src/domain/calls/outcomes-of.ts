import type { Outcome } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';

/** The outcomes of those among the calls that have one. */
export async function outcomesOf(
  db: Kysely<Tables>,
  callIds: readonly string[],
): Promise<readonly { readonly callId: string; readonly outcome: Outcome }[]> {
  const calls = await db.selectFrom('calls').select(['id', 'outcome']).where('id', 'in', callIds).execute();
  return calls.flatMap(({ id, outcome }) =>
    outcome === null ? [] : [{ callId: id, outcome: fromJson<Outcome>(outcome) }],
  );
}

/**
 * The outcome of the first call of the conversation, found by its run: calls have no index by thread. A question that a tool asked during its
 * call is stored as a separate row without an outcome.
 */
export async function firstOutcomeIn(db: Kysely<Tables>, contextId: string): Promise<Outcome | undefined> {
  const call = await db
    .selectFrom('calls')
    .innerJoin('runs', 'runs.id', 'calls.run_id')
    .select('calls.outcome')
    .where('runs.thread_id', '=', contextId)
    .where('calls.during_call', 'is', null)
    .orderBy('calls.id')
    .limit(1)
    .executeTakeFirst();
  return call?.outcome == null ? undefined : fromJson<Outcome>(call.outcome);
}
