import type { DaySpendLimits } from '../../config/spend-limits.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { ConfiguredAgent } from '../run/active-run.ts';
import type { ThreadedAgent } from './read-thread.ts';

/** The agent of a row, with its configuration as it was read. */
export function readAgent<S extends Pick<ConfiguredAgent, 'config' | 'limits'>>(
  { id, entity_id: entityId, name, tag, project_id, project_spend }: ReadAgent,
  { config, limits }: S,
): Omit<ConfiguredAgent, 'setup'> {
  return { id, entityId, name, tag, config, limits, project: { id: project_id, spend: spendOf(project_spend) } };
}

type ReadAgent = Pick<ThreadedAgent, 'id' | 'entity_id' | 'name' | 'tag' | 'project_id' | 'project_spend'>;

export function spendOf(json: string | null): DaySpendLimits {
  return json === null ? {} : fromJson<DaySpendLimits>(json);
}
