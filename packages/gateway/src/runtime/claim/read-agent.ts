import type { AgentRow } from '../../ports/store/schema/tables.ts';
import type { ConfiguredAgent } from '../run/active-run.ts';

/** The agent of a row, with its configuration as it was read. */
export function readAgent<S extends Pick<ConfiguredAgent, 'config' | 'limits'>>(
  { id, entity_id: entityId, name, tag }: Pick<AgentRow, 'id' | 'entity_id' | 'name' | 'tag'>,
  { config, limits }: S,
): Omit<ConfiguredAgent, 'setup'> {
  return { id, entityId, name, tag, config, limits };
}
