import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/json.ts';
import type { Tables } from '../../ports/store/tables.ts';
import type { TurnSettings } from './turn-settings.ts';

/**
 * What the turn was asked for that asked these calls, as its last run has it. Another turn may have come since, with settings of its
 * own. Without calls: the newest turn.
 */
export async function settingsOfAsker(
  db: Kysely<Tables>,
  contextId: string,
  callIds: readonly string[],
): Promise<TurnSettings> {
  const turnId = callIds.length === 0 ? undefined : await turnThatAsked(db, contextId, callIds);
  const runs = db
    .selectFrom('runs')
    .select('settings')
    .where('thread_id', '=', contextId)
    // What is not saved belongs to no turn of the conversation.
    .where('answer', 'is', null)
    .orderBy('cycle_no', 'desc')
    .limit(1);
  const ofTurn = turnId === undefined ? runs : runs.where('turn_id', '=', turnId);
  const row = await ofTurn.executeTakeFirst();
  return row?.settings == null ? {} : fromJson<TurnSettings>(row.settings);
}

/** Of several, the last. */
async function turnThatAsked(
  db: Kysely<Tables>,
  contextId: string,
  callIds: readonly string[],
): Promise<string | undefined> {
  const run = await db
    .selectFrom('calls')
    .innerJoin('runs', 'runs.id', 'calls.run_id')
    .select('runs.turn_id')
    .where('calls.id', 'in', callIds)
    .where('calls.thread_id', '=', contextId)
    .orderBy('runs.cycle_no', 'desc')
    .limit(1)
    .executeTakeFirst();
  return run?.turn_id;
}
