import {
  type AnyTool,
  LastcallError,
  type Policy,
  type Prompt,
  rewindTool,
  type Section,
  type ToolSet,
} from '@lastcall/core';
import { isPolicy } from '@lastcall/core/internal';
import { type AgentMode, buildModes, type Plugin } from '@lastcall/core/prompt';
import { type Charter, createMachine, type ListedTool, listTools } from '@lastcall/machines';
import { z } from 'zod';
import type { AgentConfig } from './agent-config.ts';
import type { AgentDefinition } from './agent-definition.ts';
import { type Checked, type ConfigProblem, check, formatPath } from './config-problem.ts';
import { clashingSlices, closestHint, repeatedIn, secondFilesystem, unknownInPolicies } from './definition-problems.ts';
import { checkTools, type RegisteredTools } from './registered-tool.ts';
import { toolNameProblem } from './reserved-tool-names.ts';

/** The definitions of a gateway, by name. */
export type Definitions = Readonly<Record<string, CompiledDefinition>>;

/** A checked definition, ready for runs. */
export interface CompiledDefinition {
  readonly instructions: string | Prompt;
  readonly slices: NonNullable<AgentDefinition['slices']>;
  readonly resources: NonNullable<AgentDefinition['resources']>;
  readonly policies: readonly Policy[];
  readonly files: boolean;
  readonly name: string;
  /** Its own tools, with their settings. */
  readonly tools: RegisteredTools;
  /** The tools that its sections, its plugins and `rewind` bring. */
  readonly brought: ReadonlyMap<string, BroughtTool>;
  readonly modes: Modes | undefined;
  readonly observe: AgentDefinition['observe'];
  readonly rewind: { readonly max?: number } | undefined;
  readonly machine: DefinedMachine | undefined;
}

/** An agent that is a machine. */
export interface DefinedMachine {
  readonly charter: Charter;
  /** The node that it begins with. */
  readonly root: string;
  readonly migrate: AgentDefinition['migrate'];
}

interface BroughtTool {
  readonly tool: ToolSet[string];
  /** Where the definition brings it. */
  readonly path: string;
}

/** The modes of a definition with plugins. */
interface Modes {
  readonly choose: NonNullable<AgentDefinition['mode']>;
  /** Throws a PluginError if the mode cannot work. */
  named(mode: string): AgentMode;
}

/** The tool that `rewind` gives an agent. */
export const REWIND_TOOL = 'rewind';

const NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** Checks `definitions` of a configuration. */
export function checkDefinitions(value: unknown): Checked<Definitions> {
  if (!isObject(value) || Array.isArray(value))
    return { ok: false, problems: [{ path: 'definitions', message: 'must be an object of definitions by name.' }] };
  const all = Object.entries(value).map(([name, one]) => compileDefinition(name, one, ['definitions', name]));
  const problems = all.flatMap((one) => (one.ok ? [] : one.problems));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: Object.fromEntries(all.flatMap((one) => (one.ok ? [[one.value.name, one.value]] : []))) };
}

/** Why no definition has this name. */
export function unknownDefinition(name: string, definitions: Definitions): string {
  const names = Object.keys(definitions);
  const all = names.length === 0 ? 'no definitions' : names.map((one) => JSON.stringify(one)).join(', ');
  const known = closestHint(name, names) || ` This gateway has ${all}.`;
  return `names the definition ${JSON.stringify(name)}, which this gateway does not have.${known}`;
}

/** What is wrong with the definition that an agent's configuration names. Paths are those of the agent's configuration. */
export function problemsOfDefinition(
  { definition: name, tools = [] }: Pick<AgentConfig, 'definition' | 'tools'>,
  definitions: Definitions,
): readonly ConfigProblem[] {
  if (name === undefined) return [];
  const definition = definitionNamed(name, definitions);
  if (definition === undefined) return [{ path: 'definition', message: unknownDefinition(name, definitions) }];
  return tools.flatMap((one, index) => {
    const tool = typeof one === 'string' ? one : one.name;
    const place = placeOfTool(definition, tool);
    if (place === undefined) return [];
    const path = typeof one === 'string' ? `tools[${index}]` : `tools[${index}].name`;
    return [
      { path, message: `is "${tool}", and the definition has a tool of that name: ${place}. Remove or rename one.` },
    ];
  });
}

export function definitionNamed(name: string, definitions: Definitions): CompiledDefinition | undefined {
  return Object.hasOwn(definitions, name) ? definitions[name] : undefined;
}

function placeOfTool({ name, tools, brought }: CompiledDefinition, tool: string): string | undefined {
  return Object.hasOwn(tools, tool) ? formatPath(['definitions', name, 'tools', tool]) : brought.get(tool)?.path;
}

/** `path` is the path of the definition in the configuration. */
export function compileDefinition(
  name: string,
  value: unknown,
  path: readonly PropertyKey[],
): Checked<CompiledDefinition> {
  if (!NAME.test(name))
    return problem(path, 'must have a name of 1–64 letters, digits, "_", "-" and ".", which begins with a letter.');
  if (isObject(value) && 'nodeNames' in value) return problem(path, 'is a charter: give { machine: charter }.');
  const shape = check(definitionSchema, value, path);
  if (!shape.ok) return shape;
  const definition = shape.value;
  const tools = checkTools(definition.tools ?? {}, [...path, 'tools']);
  const ofNodes = toolsOfNodes(definition);
  const reserved = reservedInNodes(ofNodes, [...path, 'machine']);
  if (!tools.ok) return { ok: false, problems: [...tools.problems, ...reserved] };
  const brought = new Brought(path, tools.value);
  const { instructions = '', slices = [], resources = [], policies = [], files = false } = definition;
  if (typeof instructions === 'object') brought.addSections(instructions.sections, [...path, 'instructions']);
  const modes = compileModes(definition, tools.value, brought, path);
  if (hasRewind(definition)) brought.add(REWIND_TOOL, rewindTool, [...path, 'rewind']);
  const repeated = [
    ...repeatedIn(slices, ({ name: own }) => own, [...path, 'slices']),
    ...repeatedIn(resources, ({ key }) => key, [...path, 'resources']),
    ...secondFilesystem(files, resources, [...path, 'resources']),
    ...clashingSlices(slices, instructions, [...path, 'slices']),
    ...unknownInPolicies(
      policies,
      [...Object.keys(tools.value), ...brought.tools.keys(), ...ofNodes.map(({ name: own }) => own)],
      [...path, 'policies'],
    ),
  ];
  const problems = [...brought.problems, ...repeated, ...reserved, ...(modes.ok ? [] : modes.problems)];
  if (problems.length > 0 || !modes.ok) return { ok: false, problems };
  const parts = { name, instructions, slices, resources, policies, files, observe: definition.observe };
  const machine = compileMachine(definition, path);
  if (!machine.ok) return machine;
  return {
    ok: true,
    value: {
      ...parts,
      tools: tools.value,
      brought: brought.tools,
      modes: modes.value,
      rewind: toRewind(definition.rewind),
      machine: machine.value,
    },
  };
}

/** The tools of a machine's nodes. Empty for a charter that cannot be read, which `compileMachine` refuses. */
function toolsOfNodes({ machine }: Pick<AgentDefinition, 'machine'>): readonly ListedTool[] {
  try {
    return machine === undefined ? [] : listTools(machine);
  } catch {
    return [];
  }
}

/** Names of built-in tools are refused here, and not in the first run that reaches the node. */
function reservedInNodes(tools: readonly ListedTool[], path: readonly PropertyKey[]): readonly ConfigProblem[] {
  return tools.flatMap(({ name, path: own }) => {
    const message = toolNameProblem(name);
    return message === undefined ? [] : [{ path: `${formatPath(path)}.${own}`, message }];
  });
}

/** A machine that cannot begin is refused here, and not in the first run. */
function compileMachine(
  { machine: charter, root, migrate }: AgentDefinition,
  path: readonly PropertyKey[],
): Checked<DefinedMachine | undefined> {
  if (charter === undefined) return { ok: true, value: undefined };
  const first = root ?? charter.nodeNames[0] ?? '';
  try {
    createMachine(charter, { root: first });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return problem([...path, 'machine'], `cannot begin: ${message}`);
  }
  return { ok: true, value: { charter, root: first, migrate } };
}

function hasRewind({ rewind = false }: AgentDefinition): boolean {
  return rewind !== false;
}

function toRewind(rewind: AgentDefinition['rewind']): CompiledDefinition['rewind'] {
  if (rewind === undefined || rewind === false) return undefined;
  return rewind === true || rewind.max === undefined ? {} : { max: rewind.max };
}

const made = <T>(mark: string, error: string): z.ZodType<T> =>
  z.custom<T>((value) => isObject(value) && mark in value, { error });

const definitionSchema: z.ZodType<AgentDefinition> = z
  .strictObject({
    instructions: z
      .custom<string | Prompt>((value) => typeof value === 'string' || (isObject(value) && 'render' in value), {
        error: 'must be a text, or come from prompt({ … }).',
      })
      .optional(),
    // The tools are checked separately, with messages that explain more.
    tools: z.custom<AgentDefinition['tools']>().optional(),
    slices: z.array(made<NonNullable<AgentDefinition['slices']>[number]>('on', 'must come from slice(…).')).optional(),
    resources: z
      .array(made<NonNullable<AgentDefinition['resources']>[number]>('create', 'must come from resource(…).'))
      .optional(),
    files: z.boolean().optional(),
    policies: z
      .array(
        z.custom<Policy>(isPolicy, {
          error:
            'must be a policy with a name and a beforeCall, approveCall, afterCall or guardFilesystem, e.g. requires({ … }).',
        }),
      )
      .optional(),
    // biome-ignore lint/suspicious/noExplicitAny: as in AgentDefinition
    plugins: z.array(made<Plugin<any, any>>('getAgentConfig', 'must come from plugin({ … }).')).optional(),
    ctx: z.unknown().optional(),
    modes: z.array(z.string().min(1).max(100)).min(1).max(100).optional(),
    mode: z
      .custom<AgentDefinition['mode']>((value) => typeof value === 'function', {
        error: 'must be a function ({ session, events, now }) => name of a mode.',
      })
      .optional(),
    machine: made<Charter>('nodeNames', 'must come from charter({ … }).').optional(),
    root: z.string().min(1).max(200).optional(),
    migrate: z
      .custom<AgentDefinition['migrate']>((value) => typeof value === 'function', {
        error: 'must be a function (tree) => tree.',
      })
      .optional(),
    observe: z
      .custom<AgentDefinition['observe']>((value) => typeof value === 'function', {
        error: 'must be a function (session) => text.',
      })
      .optional(),
    rewind: z.union([z.boolean(), z.strictObject({ max: z.int().min(1).max(100).optional() })]).optional(),
  })
  .superRefine((given, ctx) => {
    const { plugins, mode, modes, ctx: pluginContext, machine, root, migrate, instructions, observe, rewind } = given;
    const missing = (path: string, message: string): void => ctx.addIssue({ code: 'custom', path: [path], message });
    if (plugins !== undefined && mode === undefined)
      missing('mode', 'is missing: plugins have modes, and mode(ctx) chooses the one of a run.');
    if (plugins === undefined && mode !== undefined) missing('mode', 'has no effect without plugins. Remove it.');
    if (machine === undefined && migrate !== undefined) missing('migrate', 'has no effect without machine. Remove it.');
    if (machine === undefined && root !== undefined) missing('root', 'has no effect without machine. Remove it.');
    const unused = Object.entries({ instructions, plugins, observe, rewind }).filter(
      ([, value]) => value !== undefined,
    );
    for (const [field] of machine === undefined ? [] : unused)
      missing(field, 'has no effect with machine: its nodes have instructions and tools. Remove it.');
    if (plugins === undefined && modes !== undefined) missing('modes', 'has no effect without plugins. Remove it.');
    if (plugins === undefined && pluginContext !== undefined)
      missing('ctx', 'has no effect without plugins. Remove it.');
  }) as z.ZodType<AgentDefinition>;

/** Collects tools by name, and notes where two have the same one. */
class Brought {
  readonly tools = new Map<string, BroughtTool>();
  readonly problems: ConfigProblem[] = [];
  readonly #base: readonly PropertyKey[];
  readonly #own: RegisteredTools;

  constructor(base: readonly PropertyKey[], own: RegisteredTools) {
    this.#base = base;
    this.#own = own;
  }

  add(name: string, tool: ToolSet[string], path: readonly PropertyKey[]): void {
    const shown = formatPath(path);
    const reserved = toolNameProblem(name);
    const own = Object.hasOwn(this.#own, name) ? formatPath([...this.#base, 'tools', name]) : undefined;
    const other = own ?? this.tools.get(name)?.path;
    if (reserved !== undefined) this.problems.push({ path: shown, message: `brings a tool whose name ${reserved}` });
    else if (other !== undefined)
      this.problems.push({ path: shown, message: `brings a tool "${name}", and so does ${other}. Rename one.` });
    else this.tools.set(name, { tool, path: shown });
  }

  addSections(sections: readonly Section[], path: readonly PropertyKey[]): void {
    for (const { key, tools = {}, children = [] } of sections) {
      for (const [name, tool] of Object.entries(tools)) this.add(name, tool, [...path, key]);
      this.addSections(children, [...path, key]);
    }
  }
}

function compileModes(
  definition: AgentDefinition,
  own: RegisteredTools,
  brought: Brought,
  path: readonly PropertyKey[],
): Checked<Modes | undefined> {
  const { plugins, mode, modes = [], ctx = {} } = definition;
  if (plugins === undefined || mode === undefined) return { ok: true, value: undefined };
  // Tools that are data cannot be picked by a plugin: they are made when a run needs them.
  const tools = Object.fromEntries([
    ...Object.values(own).flatMap((one) => (one.kind === 'typescript' ? [[one.name, one.tool]] : [])),
    ...(hasRewind(definition) ? [[REWIND_TOOL, rewindTool]] : []),
  ]);
  const known = new Map<string, AgentMode>();
  const named = (name: string): AgentMode => {
    const built = known.get(name) ?? (buildModes({ modes: [name], plugins, ctx, tools })[name] as AgentMode);
    known.set(name, built);
    return built;
  };
  try {
    for (const one of plugins)
      for (const [name, tool] of Object.entries(one.tools(ctx)))
        brought.add(name, tool, [...path, 'plugins', one.name]);
    for (const name of modes) named(name);
    return { ok: true, value: { choose: mode, named } };
  } catch (error) {
    const message = error instanceof LastcallError ? error.message : String(error);
    return problem([...path, 'plugins'], `cannot be used: ${message}`);
  }
}

/** True for a tool whose calls people have to see, because they wait for an answer or an approval. */
export function needsPeople(tool: ToolSet[string]): boolean {
  const { execute, approval } = tool as Partial<AnyTool>;
  return execute === undefined || (approval !== undefined && approval !== false);
}

function problem(path: readonly PropertyKey[], message: string): Checked<never> {
  return { ok: false, problems: [{ path: formatPath(path), message }] };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
