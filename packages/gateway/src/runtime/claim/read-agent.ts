import { LRUCache } from 'lru-cache';
import type { AgentConfig } from '../../config/agent-config.ts';
import { type AgentLimits, resolveAgentLimits } from '../../config/agent-limits.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow } from '../../ports/store/schema/tables.ts';
import type { ConfiguredAgent } from '../run/active-run.ts';
import type { Registry } from '../toolset/registry.ts';

export function readAgent(
  { id, entity_id: entityId, name, tag, config: json }: Pick<AgentRow, 'id' | 'entity_id' | 'name' | 'tag' | 'config'>,
  agentLimits: Registry['agentLimits'],
): Omit<ConfiguredAgent, 'registryTools'> {
  const config = configs.memo(json);
  return { id, entityId, name, tag, config, limits: limitsOf(config, agentLimits) };
}

function limitsOf(config: AgentConfig, defaults: Registry['agentLimits']): AgentLimits {
  const known = limits.get(config);
  if (known?.defaults === defaults) return known.resolved;
  const resolved = resolveAgentLimits(config.limits, defaults);
  limits.set(config, { defaults, resolved });
  return resolved;
}

const limits = new WeakMap<AgentConfig, { readonly defaults: object; readonly resolved: AgentLimits }>();

// Equal JSON gives the same object, because tools and schemas are compiled once per object.
const configs = new LRUCache<string, AgentConfig>({
  max: 5_000,
  // With the compiled tools and schemas, this takes about ten times as many bytes.
  maxSize: 20_000_000,
  sizeCalculation: (_config, json) => json.length,
  memoMethod: (json) => fromJson<AgentConfig>(json),
});
