import type { TurnSettings } from '../../domain/contexts/turn-settings.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { RunRow } from '../../ports/store/tables.ts';

/** The settings that the request of a context's run asked for. */
export function settingsOfRun({ settings }: RunRow): TurnSettings | undefined {
  return settings === null ? undefined : fromJson<TurnSettings>(settings);
}
