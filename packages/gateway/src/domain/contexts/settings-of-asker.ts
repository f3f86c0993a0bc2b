import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/json.ts';
import type { Tables } from '../../ports/store/tables.ts';
import { runsOfTurn } from './turn-runs.ts';
import type { TurnSettings } from './turn-settings.ts';

/**
 * The settings of the turn that asked these calls, as its last run has them. Another turn with other settings may have come
 * since. Without calls: the settings of the newest turn.
 */
export async function settingsOfAsker(
  db: Kysely<Tables>,
  contextId: string,
  callIds: readonly string[],
): Promise<TurnSettings> {
  const asker = callIds.length === 0 ? undefined : await runThatAsked(db, contextId, callIds);
  const runs = db
    .selectFrom('runs')
    .select('settings')
    .where('thread_id', '=', contextId)
    // Runs that are not saved belong to no turn of the conversation.
    .where('answer', 'is', null)
    .orderBy('cycle_no', 'desc')
    .limit(1);
  const ofTurn = asker === undefined ? runs : runs.where('id', 'in', await runsOfTurn(db, contextId, asker));
  const row = await ofTurn.executeTakeFirst();
  return row?.settings == null ? {} : fromJson<TurnSettings>(row.settings);
}

/** If several runs asked, the last one. */
async function runThatAsked(
  db: Kysely<Tables>,
  contextId: string,
  callIds: readonly string[],
): Promise<string | undefined> {
  const run = await db
    .selectFrom('pending_calls')
    .innerJoin('runs', 'runs.id', 'pending_calls.run_id')
    .select('runs.id')
    .where('call_id', 'in', callIds)
    .where('runs.thread_id', '=', contextId)
    .orderBy('runs.cycle_no', 'desc')
    .limit(1)
    .executeTakeFirst();
  return run?.id;
}
