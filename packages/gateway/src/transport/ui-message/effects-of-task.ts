import type { TurnSettings, UserContent } from '../../domain/conversations/turn-settings.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { isPageTask } from '../page-task.ts';

type Effects = Pick<TurnSettings, 'isWithoutEffects'>;

const NONE: Effects = { isWithoutEffects: true };

/** A task of the page has no effects. A message can only be such a task if nothing else was answered in the chat. */
export async function effectsOfMessage(
  { db }: Tx,
  contextId: string | undefined,
  message: UserContent,
): Promise<Effects> {
  if (!isPageTask({ message })) return {};
  if (contextId === undefined) return NONE;
  const answered = await db
    .selectFrom('runs')
    .select('settings')
    .where('thread_id', '=', contextId)
    .where('status', '=', 'completed')
    .execute();
  return answered.every(isWithoutEffects) ? NONE : {};
}

/** A message that is answered again has no more effects than it had in this earlier run. */
export async function effectsOfRun({ db }: Tx, runId: string): Promise<Effects> {
  const run = await db.selectFrom('runs').select('settings').where('id', '=', runId).executeTakeFirst();
  return run !== undefined && isWithoutEffects(run) ? NONE : {};
}

function isWithoutEffects({ settings }: { readonly settings: string | null }): boolean {
  return settings !== null && fromJson<TurnSettings>(settings).isWithoutEffects === true;
}
