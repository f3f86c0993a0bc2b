import type { AgentDefinition } from './agent-definition.ts';
import { ConfigError } from './config-error.ts';
import { compileDefinition } from './definitions.ts';

/** Checks a definition, and throws a ConfigError that lists every problem at once. */
export function defineAgent(definition: AgentDefinition): AgentDefinition {
  const compiled = compileDefinition('agent', definition, []);
  if (!compiled.ok) throw new ConfigError('defineAgent()', compiled.problems);
  return Object.freeze({ ...definition });
}
