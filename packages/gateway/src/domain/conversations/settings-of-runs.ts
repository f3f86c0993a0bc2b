import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { RunRow, Tables } from '../../ports/store/schema/tables.ts';
import type { ChatEvent } from '../inbox/inbox-event.ts';
import type { TurnSettings } from './turn-settings.ts';

/** The settings of those among the runs that have begun. */
export async function settingsOfRuns(db: Kysely<Tables>, runIds: readonly string[]): Promise<readonly TurnSettings[]> {
  return (await db.selectFrom('runs').select('settings').where('id', 'in', runIds).execute()).map(toSettings);
}

/** The settings that were requested for those among the runs whose requests are still stored. */
export async function settingsOfRequests(
  db: Kysely<Tables>,
  runIds: readonly string[],
): Promise<readonly TurnSettings[]> {
  const events = await db
    .selectFrom('inbox_events')
    .select('payload')
    .where('run_id', 'in', runIds)
    .where('type', '=', 'chat')
    .execute();
  return events.map(({ payload }) => fromJson<ChatEvent>(payload).settings);
}

/** The settings of all runs of the conversation that completed. */
export async function settingsOfCompleted(db: Kysely<Tables>, contextId: string): Promise<readonly TurnSettings[]> {
  const runs = db.selectFrom('runs').select('settings').where('thread_id', '=', contextId);
  return (await runs.where('status', '=', 'completed').execute()).map(toSettings);
}

function toSettings({ settings }: Pick<RunRow, 'settings'>): TurnSettings {
  return settings === null ? {} : fromJson<TurnSettings>(settings);
}
