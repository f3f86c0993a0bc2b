import type { AgentConfig } from '../../config/agent-config.ts';
import { limitsOf } from '../../config/agent-limits.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { AgentRow } from '../../ports/store/tables.ts';
import type { ConfiguredAgent } from './cycle.ts';
import type { Registry } from './registry.ts';

export function readAgent(
  { id, entity_id: entityId, name, tag, config: json }: Pick<AgentRow, 'id' | 'entity_id' | 'name' | 'tag' | 'config'>,
  agentLimits: Registry['agentLimits'],
): ConfiguredAgent {
  const config = readConfig(json);
  return { id, entityId, name, tag, config, limits: limitsOf(config.limits, agentLimits) };
}

// The same object for the same configuration: what its schemas mean is worked out once for each object.
const configs = new Map<string, AgentConfig>();
const MOST_CONFIGS = 5_000;

function readConfig(json: string): AgentConfig {
  const known = configs.get(json);
  if (known !== undefined) return known;
  // The oldest goes, so that one agent more does not make all of them read anew.
  const [oldest] = configs.keys();
  if (configs.size >= MOST_CONFIGS && oldest !== undefined) configs.delete(oldest);
  const config = fromJson<AgentConfig>(json);
  configs.set(json, config);
  return config;
}
