import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { RunRow } from '../../ports/store/schema/tables.ts';

/** The settings that the request of a conversation's run asked for. */
export function settingsOfRun({ settings }: RunRow): TurnSettings | undefined {
  return settings === null ? undefined : fromJson<TurnSettings>(settings);
}
