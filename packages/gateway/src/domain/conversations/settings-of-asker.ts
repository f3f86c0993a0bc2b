import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
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
  const turnId = callIds.length === 0 ? undefined : await turnThatAsked(db, contextId, callIds);
  const runs = db
    .selectFrom('runs')
    .select('settings')
    .where('thread_id', '=', contextId)
    // Runs that are not saved belong to no turn of the conversation.
    .where('answer', 'is', null)
    .orderBy('number', 'desc')
    .limit(1);
  const ofTurn = turnId === undefined ? runs : runs.where('turn_id', '=', turnId);
  const row = await ofTurn.executeTakeFirst();
  return row?.settings == null ? {} : fromJson<TurnSettings>(row.settings);
}

/** If several runs asked, the last one. */
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
    .orderBy('runs.number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return run?.turn_id;
}
