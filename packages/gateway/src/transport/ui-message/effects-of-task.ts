import { settingsOfCompleted, settingsOfRuns } from '../../domain/conversations/settings-of-runs.ts';
import type { TurnSettings, UserContent } from '../../domain/conversations/turn-settings.ts';
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
  const answered = await settingsOfCompleted(db, contextId);
  return answered.every(isWithoutEffects) ? NONE : {};
}

/** A message that is answered again has no more effects than it had in this earlier run. */
export async function effectsOfRun({ db }: Tx, runId: string): Promise<Effects> {
  const [run] = await settingsOfRuns(db, [runId]);
  return run !== undefined && isWithoutEffects(run) ? NONE : {};
}

function isWithoutEffects(settings: TurnSettings): boolean {
  return settings.isWithoutEffects === true;
}
