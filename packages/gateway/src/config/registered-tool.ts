import { type AiSdkTool, type AnyTool, LastcallError, mergeToolSets } from '@lastcall/core';
import { z } from 'zod';
import { type Checked, type ConfigProblem, check, formatPath } from './config-problem.ts';
import type { MiddlewareConfig } from './middleware-config.ts';
import { toolNameProblem } from './reserved-tool-names.ts';
import type { Answerers, ToolConfig, ToolConfigInput, ToolDisplay } from './tool-config.ts';
import {
  answerersSchema,
  displaySchema,
  expiresInMsSchema,
  grantsSchema,
  toolConfigSchema,
  toolMiddlewareSchema,
} from './tool-config-schema.ts';

/** A tool of the configuration file or of the registry. `isVisible` takes both kinds. */
export type RegisteredTool = TypescriptTool | ConfiguredTool;

interface ConfiguredTool extends ToolConfig {
  readonly kind: 'configured';
  /** Only tools of the registry have an id. */
  readonly id?: string | undefined;
  /** Incremented by every change. Only tools of the registry have a version. */
  readonly version?: number | undefined;
  /** The project of a tool of the registry. Absent for `default`. */
  readonly project?: string | undefined;
}

/** The metric label of tools that belong to one project. */
export const OF_PROJECT = 'project';

export function isOfProject(tool: RegisteredTool | undefined): boolean {
  return tool?.kind === 'configured' && tool.project !== undefined;
}

interface TypescriptTool extends TypescriptSettings {
  readonly kind: 'typescript';
  readonly name: string;
  readonly tool: AnyTool | AiSdkTool;
  readonly executionType: 'gateway' | 'internal';
  /** True if its output is for the model alone: it is not posted as the agent's message when the tool ends a run. */
  readonly isSilent?: boolean;
}

/**
 * The settings of a tool that is written in TypeScript. It runs on the gateway, so its kind is `gateway`, and its calls
 * are visible unless `visible: false` or `executionType: 'internal'` is set.
 */
export interface TypescriptSettings {
  readonly executionType?: 'gateway' | 'internal' | undefined;
  readonly visible?: boolean | undefined;
  readonly display?: ToolDisplay | undefined;
  /** Who may approve its calls. */
  readonly answerers?: Answerers | undefined;
  /** How long its calls wait for approval. */
  readonly expiresInMs?: number | undefined;
  /** False: every call waits for its own approval, and none can be granted in advance. */
  readonly grants?: false | undefined;
  /** Middleware around the calls of this tool only, inside the agent's middleware. The first is the outermost. */
  readonly middleware?: readonly MiddlewareConfig[] | undefined;
}

/** A tool under its name in the configuration file: plain, with settings, or as data (whose name is the key). */
export type ToolEntry =
  | AnyTool
  | AiSdkTool
  | ({ readonly tool: AnyTool | AiSdkTool } & TypescriptSettings)
  | (Omit<ToolConfigInput, 'name'> & { readonly name?: string | undefined });

export type ToolEntries = Readonly<Record<string, ToolEntry>> | readonly ToolConfigInput[];

export type RegisteredTools = Readonly<Record<string, RegisteredTool>>;

const settingsSchema = z.strictObject({
  tool: z.custom<AnyTool | AiSdkTool>(isObject, { error: 'must be a tool made with tool({ … }).' }),
  executionType: z
    .enum(['gateway', 'internal'], {
      error: 'must be "gateway" or "internal": a tool written in TypeScript runs on the gateway.',
    })
    .default('gateway'),
  visible: z.boolean().optional(),
  display: displaySchema.optional(),
  answerers: answerersSchema.optional(),
  expiresInMs: expiresInMsSchema.optional(),
  grants: grantsSchema.optional(),
  middleware: toolMiddlewareSchema.optional(),
});

/** `base` is the path of the tools in the configuration. */
export function checkTools(entries: unknown, base: readonly PropertyKey[]): Checked<RegisteredTools> {
  if (!isObject(entries))
    return oneProblem(base, 'must be an object of tools by name, or a list of tool configurations.');
  const results = Array.isArray(entries)
    ? entries.map((entry, index): NamedResult => [undefined, checkConfigured(entry, [...base, index])])
    : Object.entries(entries).map(([name, entry]): NamedResult => [name, checkEntry(name, entry, [...base, name])]);
  return collect(results, base);
}

type NamedResult = readonly [key: string | undefined, result: Checked<RegisteredTool>];

function collect(results: readonly NamedResult[], base: readonly PropertyKey[]): Checked<RegisteredTools> {
  const tools: Record<string, RegisteredTool> = {};
  const problems: ConfigProblem[] = [];
  for (const [index, [, result]] of results.entries()) {
    if (!result.ok) problems.push(...result.problems);
    else if (Object.hasOwn(tools, result.value.name))
      problems.push({
        path: formatPath([...base, index, 'name']),
        message: `is "${result.value.name}" a second time. Rename one.`,
      });
    else tools[result.value.name] = result.value;
  }
  return problems.length === 0 ? { ok: true, value: tools } : { ok: false, problems };
}

function checkEntry(name: string, entry: unknown, path: readonly PropertyKey[]): Checked<RegisteredTool> {
  const problem = toolNameProblem(name);
  if (problem !== undefined) return oneProblem(path, problem);
  if (!isObject(entry))
    return oneProblem(path, 'must be a tool: tool({ … }), { tool, visible } or a tool configuration.');
  if ('tool' in entry) return checkTypescript(name, entry, path, [...path, 'tool']);
  // Tools of core and of the AI SDK have neither field.
  if (!('executionType' in entry || 'execution' in entry)) return checkTypescript(name, { tool: entry }, path, path);
  return 'name' in entry && entry.name !== undefined && entry.name !== name
    ? oneProblem([...path, 'name'], `must equal its key "${name}". Leave it out.`)
    : checkConfigured({ ...entry, name }, path);
}

function checkConfigured(entry: unknown, path: readonly PropertyKey[]): Checked<RegisteredTool> {
  if (isObject(entry) && 'execute' in entry)
    return oneProblem(path, 'is a tool of a program. Give the tools as an object by name: { search: tool({ … }) }.');
  const result = check(toolConfigSchema, entry, path);
  return result.ok ? { ok: true, value: { ...result.value, kind: 'configured' } } : result;
}

function checkTypescript(
  name: string,
  entry: object,
  path: readonly PropertyKey[],
  toolPath: readonly PropertyKey[],
): Checked<RegisteredTool> {
  const settings = check(settingsSchema, entry, path);
  if (!settings.ok) return settings;
  const problem = codeProblem(name, settings.value.tool);
  return problem === undefined
    ? { ok: true, value: { ...settings.value, kind: 'typescript', name } }
    : oneProblem(toolPath, problem);
}

function codeProblem(name: string, tool: AnyTool | AiSdkTool): string | undefined {
  if (!('inputSchema' in tool) && !('execute' in tool))
    return 'must be a tool: tool({ description, inputSchema, execute }).';
  const isProviders = 'type' in tool && tool.type?.startsWith('provider') === true;
  if (tool.execute === undefined && !isProviders)
    return 'has no execute function, so it cannot run. Add one, or configure it as a "space" or "external" tool.';
  try {
    mergeToolSets({ [name]: tool });
    return undefined;
  } catch (error) {
    return `cannot be used: ${error instanceof LastcallError ? error.message : String(error)}`;
  }
}

function oneProblem(path: readonly PropertyKey[], message: string): Checked<never> {
  return { ok: false, problems: [{ path: formatPath(path), message }] };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Finds a tool by its name, or else by its id. */
export function findTool(tools: RegisteredTools, nameOrId: string): RegisteredTool | undefined {
  return Object.hasOwn(tools, nameOrId)
    ? tools[nameOrId]
    : Object.values(tools).find((one) => toolId(one) === nameOrId);
}

function toolId(one: RegisteredTool): unknown {
  if (one.kind === 'configured') return one.id;
  return 'id' in one.tool ? one.tool.id : undefined;
}
