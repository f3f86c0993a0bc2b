import { assertToolSet, type ToolSet } from '../contract/tool-set.ts';
import { OptionsError, PluginError } from '../errors.ts';
import { describeError } from '../results/describe-error.ts';
import { resolveTool } from '../tools/resolved-tool.ts';
import { assertNamesOnly } from './named-tools.ts';
import { type ModeConfig, type Plugin, plugin } from './plugin.ts';
import { joinHooks, type PluginHooks } from './plugin-hooks.ts';

interface ModesOptions<C, M extends string> {
  /** Every mode the agent may be in. */
  modes: readonly M[];
  plugins: readonly Plugin<C, M>[];
  /** Passed to every plugin. */
  ctx: C;
  /** The agent's own tools, which the plugins pick from in addition to those they define. */
  tools?: ToolSet;
}

/** A mode as a turn takes it: `runTurn({ ...modes.main, model, session, prompt })`. */
export interface AgentMode extends ModeConfig, PluginHooks {}

/**
 * Builds all modes of an agent at once, so that a mode that cannot work fails here and not when it is entered.
 * Instructions follow each other in the order of the plugins; a tool that two plugins pick appears once. Throws a
 * PluginError that names the plugin, the mode and the tool.
 */
export function buildModes<C, const M extends string>(options: ModesOptions<C, M>): Readonly<Record<M, AgentMode>> {
  const { ctx, modes, tools = {} } = options;
  const plugins = checkPlugins(options.plugins);
  checkModes(modes);
  assertToolSet(tools, 'Option "tools"');
  const ofAgent = gatherTools(plugins, ctx, tools);
  const hooks = joinHooks(plugins.map((one) => one.hooks ?? {}));
  const built = modes.map((mode) => [mode, Object.freeze({ ...buildMode(plugins, ctx, mode, ofAgent), ...hooks })]);
  return Object.freeze(Object.fromEntries(built)) as Readonly<Record<M, AgentMode>>;
}

function checkPlugins<C, M extends string>(plugins: readonly Plugin<C, M>[]): readonly Plugin<C, M>[] {
  if (!Array.isArray(plugins)) throw new OptionsError('plugins', 'must be an array of plugins.');
  const checked = plugins.map((one) => plugin(one as Plugin<C, M>));
  const names = checked.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new PluginError({ plugin: twice }, 'is there twice.');
  return checked;
}

function checkModes(modes: readonly string[]): void {
  const right = Array.isArray(modes) && modes.length > 0 && modes.every((mode) => typeof mode === 'string');
  if (!right) throw new OptionsError('modes', 'must be a list of names, at least one.');
  // As a key it would set the prototype of the record instead of adding a mode.
  if (modes.includes('__proto__')) throw new OptionsError('modes', 'must not have "__proto__".');
}

/** All tools of the agent and its plugins. With a duplicate name it would be undefined which tool is called. */
function gatherTools<C, M extends string>(plugins: readonly Plugin<C, M>[], ctx: C, own: ToolSet): ToolSet {
  const all = { ...own };
  const owners = new Map(Object.keys(own).map((name) => [name, 'the agent']));
  for (const one of plugins) {
    for (const [name, tool] of Object.entries(one.tools(ctx))) {
      const owner = owners.get(name);
      if (owner !== undefined)
        throw new PluginError({ plugin: one.name }, `brings a tool "${name}", and ${owner} has one of that name.`);
      owners.set(name, `plugin "${one.name}"`);
      all[name] = tool;
    }
  }
  return all;
}

function buildMode<C, M extends string>(
  plugins: readonly Plugin<C, M>[],
  ctx: C,
  mode: M,
  ofAgent: ToolSet,
): ModeConfig {
  const configs: Picked[] = plugins.map((one) => ({
    ...one.getAgentConfig(ctx, mode, ofAgent),
    where: { plugin: one.name, mode },
  }));
  const tools = joinTools(configs);
  for (const { where, instructions } of configs) assertNamesOnly(where, instructions, tools, ofAgent);
  const instructions = configs.map((one) => one.instructions.trim()).filter((text) => text !== '');
  return { instructions: instructions.join('\n\n'), tools };
}

type Picked = ModeConfig & { readonly where: { plugin: string; mode: string } };

function joinTools(configs: readonly Picked[]): ToolSet {
  const joined: Record<string, ToolSet[string]> = {};
  for (const { where, tools } of configs) {
    for (const [name, tool] of Object.entries(tools)) {
      if (Object.hasOwn(joined, name) && joined[name] !== tool)
        throw new PluginError(where, `another plugin offers a different tool named "${name}" in this mode.`);
      assertUsable(where, name, tool);
      joined[name] = tool;
    }
  }
  return joined;
}

/** Without this check, a tool that cannot work would fail only when the mode is first entered. */
function assertUsable(where: Picked['where'], name: string, tool: ToolSet[string]): void {
  try {
    resolveTool(name, tool);
  } catch (cause) {
    throw new PluginError(where, describeError(cause).message, { cause });
  }
}
