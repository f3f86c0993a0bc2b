import type { AgentConfig } from '../../config/agent-config.ts';
import { resolveAgentLimits } from '../../config/agent-limits.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { AgentRow } from '../../ports/store/tables.ts';
import type { ConfiguredAgent } from './cycle.ts';
import type { Registry } from './registry.ts';

export function readAgent(
  { id, entity_id: entityId, name, tag, config: json }: Pick<AgentRow, 'id' | 'entity_id' | 'name' | 'tag' | 'config'>,
  agentLimits: Registry['agentLimits'],
): ConfiguredAgent {
  const config = readConfig(json);
  return { id, entityId, name, tag, config, limits: resolveAgentLimits(config.limits, agentLimits) };
}

// The same JSON gives the same object, because tools and schemas are compiled once per object.
const configs = new Map<string, AgentConfig>();
const MAX_CONFIGS = 5_000;

function readConfig(json: string): AgentConfig {
  const known = configs.get(json);
  if (known !== undefined) return known;
  // Only the oldest is dropped, so that one more agent does not make all of them parse again.
  const [oldest] = configs.keys();
  if (configs.size >= MAX_CONFIGS && oldest !== undefined) configs.delete(oldest);
  const config = fromJson<AgentConfig>(json);
  configs.set(json, config);
  return config;
}
