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
