import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { COMMAND_RESULT, type CommandResult } from '../transcript/machine-rows.ts';

/** How a command ended, or why it never ran. Undefined while it waits. */
export async function findCommandResult(
  db: Kysely<Tables>,
  { threadId, eventId }: { readonly threadId: string; readonly eventId: string },
): Promise<{ readonly output: unknown } | { readonly error: string } | undefined> {
  const event = await db
    .selectFrom('inbox_events')
    .select(['status', 'run_id', 'error'])
    .where('thread_id', '=', threadId)
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  if (event?.run_id == null) return undefined;
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', '=', event.run_id)
    .where('kind', '=', COMMAND_RESULT)
    .execute();
  const results = rows.map(({ payload }) => fromJson<{ readonly entry: CommandResult }>(payload).entry);
  const result = results.find(({ key }) => key === eventId);
  if (result !== undefined) return result.error === undefined ? { output: result.output } : { error: result.error };
  return event.status === 'dead' ? { error: 'The command did not run: the run that took it failed.' } : undefined;
}
