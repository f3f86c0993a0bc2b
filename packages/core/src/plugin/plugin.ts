import { assertToolSet, type ToolSet } from '../contract/tool-set.ts';
import { PluginError } from '../errors.ts';
import { describeError } from '../results/describe-error.ts';
import { type KnownNames, knownNames, unknownName } from '../unknown-option.ts';
import { assertNamesOnly } from './named-tools.ts';
import { assertHooks, type PluginHooks } from './plugin-hooks.ts';

/** An agent in one mode: its instructions and its tools. */
export interface ModeConfig {
  readonly instructions: string;
  readonly tools: ToolSet;
}

/** The same as a plugin may write it: its instructions may be called `prompt`. */
type WrittenConfig = ModeConfig | { readonly prompt: string; readonly tools: ToolSet };

/** Tools and instructions that belong together. `C` is the host's own context, `M` the modes it knows. */
interface PluginDefinition<C = unknown, M extends string = string> {
  name: string;
  /** The tools it defines. */
  tools: (ctx: C) => ToolSet;
  /** The agent in a mode. `tools` is everything the agent has: pick from it with `filterToolSet`. */
  getAgentConfig: (ctx: C, mode: M, tools: ToolSet) => WrittenConfig;
  hooks?: PluginHooks;
}

/** A checked plugin: its tools cannot be offered to a model unless they can work. */
export interface Plugin<C = unknown, M extends string = string> {
  readonly name: string;
  readonly tools: (ctx: C) => ToolSet;
  /** Called alone, it picks from the plugin's own tools; `buildModes` passes those of the whole agent. */
  readonly getAgentConfig: (ctx: C, mode: M, tools?: ToolSet) => ModeConfig;
  readonly hooks?: PluginHooks;
}

/** Defines a plugin. Throws a PluginError if a field is invalid. */
export function plugin<C = unknown, M extends string = string>(definition: PluginDefinition<C, M>): Plugin<C, M> {
  assertDefinition(definition);
  const { name, hooks } = definition;
  const ownTools = (ctx: C): ToolSet => askTools(name, () => definition.tools(ctx));
  return Object.freeze({
    name,
    tools: ownTools,
    getAgentConfig(ctx: C, mode: M, tools?: ToolSet): ModeConfig {
      const offered = tools ?? ownTools(ctx);
      const config = askConfig({ plugin: name, mode }, () => definition.getAgentConfig(ctx, mode, offered));
      // In a whole agent another plugin may define the tool: there the mode is checked when it is complete.
      if (tools === undefined) assertNamesOnly({ plugin: name, mode }, config.instructions, config.tools, offered);
      return config;
    },
    ...(hooks === undefined ? {} : { hooks }),
  });
}

const FIELDS: KnownNames = knownNames<PluginDefinition>({
  name: true,
  tools: true,
  getAgentConfig: true,
  hooks: true,
});

function assertDefinition(definition: unknown): void {
  const given = (typeof definition === 'object' && definition !== null ? definition : {}) as Record<string, unknown>;
  const { name } = given;
  if (typeof name !== 'string' || name.trim() === '')
    throw new PluginError({ plugin: '(unnamed)' }, 'name must be a text that is not empty.');
  for (const field of ['tools', 'getAgentConfig']) {
    if (typeof given[field] !== 'function') throw new PluginError({ plugin: name }, `${field} must be a function.`);
  }
  const unknown = unknownName(given, FIELDS);
  if (unknown !== undefined) throw new PluginError({ plugin: name }, `${unknown.field} ${unknown.problem}`);
  if (given.hooks !== undefined) assertHooks(name, given.hooks);
}

function askTools(name: string, ask: () => unknown): ToolSet {
  return blaming({ plugin: name }, () => {
    const tools = ask();
    assertToolSet(tools, 'tools()');
    return tools;
  });
}

function askConfig(where: { plugin: string; mode: string }, ask: () => unknown): ModeConfig {
  return blaming(where, () => {
    const config = ask();
    if (typeof config !== 'object' || config === null)
      throw new PluginError(where, 'getAgentConfig() must return { instructions, tools }.');
    const { prompt, instructions = prompt, tools } = config as Record<string, unknown>;
    if (prompt !== undefined && instructions !== prompt)
      throw new PluginError(where, 'instructions and prompt are two names of one thing. Give one of them.');
    if (typeof instructions !== 'string') throw new PluginError(where, 'instructions must be a text.');
    assertToolSet(tools, 'tools');
    return { instructions, tools };
  });
}

/** Adds the plugin's name to the error, because the error itself may not say which plugin to fix. */
function blaming<T>(where: { plugin: string; mode?: string }, ask: () => T): T {
  try {
    return ask();
  } catch (cause) {
    if (cause instanceof PluginError) throw cause;
    throw new PluginError(where, describeError(cause).message, { cause });
  }
}
