import type { AgentDefinition } from './agent-definition.ts';
import { ConfigError } from './config-error.ts';
import type { Mistakes, TypedModes } from './definition-types.ts';
import { compileDefinition } from './definitions.ts';

/**
 * Checks a definition, and throws a ConfigError that lists every problem at once. The result has the type of what was given, so that
 * a program can also run it without a gateway.
 */
export function defineAgent<const D extends AgentDefinition, Mode extends string = string, const Context = object>(
  definition: D & TypedModes<Mode, Context> & Mistakes<D>,
): Readonly<D> {
  const compiled = compileDefinition('agent', definition, []);
  if (!compiled.ok) throw new ConfigError('defineAgent()', compiled.problems);
  return Object.freeze({ ...definition });
}
