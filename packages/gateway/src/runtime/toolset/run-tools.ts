import { createHash } from 'node:crypto';
import {
  type AnyTool,
  configureTools,
  fail,
  LastcallError,
  mergeToolSets,
  pending,
  rewindTool,
  type ToolContext,
  type ToolSet,
} from '@lastcall/core';
import { dataTool, mapPrompt } from '@lastcall/core/internal';
import { dataSchema } from '../../config/data-schema.ts';
import {
  type CompiledDefinition,
  definitionNamed,
  needsPeople,
  REWIND_TOOL,
  unknownDefinition,
} from '../../config/definitions.ts';
import { namedBySubAgent } from '../../config/named-tools.ts';
import {
  findTool,
  isOfProject,
  OF_PROJECT,
  type RegisteredTool,
  type RegisteredTools,
} from '../../config/registered-tool.ts';
import { isForWorkers, type SubAgentConfig } from '../../config/sub-agent.ts';
import type { ToolConfig } from '../../config/tool-config.ts';
import { hasUrl, isImage, isInteractive, isSubAgent, isTemplate, isVisible } from '../../config/visibility.ts';
import { joinTexts } from '../../domain/join-texts.ts';
import { withShortSchemas } from '../../models/model-schema.ts';
import { createEgress } from '../../ports/egress/egress.ts';
import { canonicalJson, toJson } from '../../ports/store/schema/json.ts';
import { KnownSecrets } from '../../telemetry/known-secrets.ts';
import { countCall } from '../../telemetry/observe-run.ts';
import { createSecrets } from '../../telemetry/secrets.ts';
import { traceCalls } from '../../telemetry/trace-calls.ts';
import type { RunSetup } from '../run/run-setup.ts';
import type { RunTool, RunTools } from '../run/run-tool.ts';
import { httpTool, type Outgoing } from '../tools/http/http-tool.ts';
import { type ImageHost, imageTool } from '../tools/image/image-tool.ts';
import { createOutputLimit } from '../tools/output-limit.ts';
import {
  isUnseenSubAgent,
  type SubAgentHost,
  type SubAgentSetup,
  subAgentTool,
} from '../tools/sub-agent/sub-agent-tool.ts';
import { TASK_TOOLS } from '../tools/task-tools.ts';
import { templateTool } from '../tools/template-tool.ts';
import { advertisedInput } from './advertised-input.ts';
import { currentRun } from './current-run.ts';
import type { Registry } from './registry.ts';
import { removeSecrets } from './remove-secrets.ts';
import { changedSinceAsked, definitionOfTool } from './tool-definition.ts';

/**
 * An agent's tools: the built-in ones, which cannot be overridden, those of its definition, and those its configuration names. The tools of
 * a definition's sections and modes are known here, and offered by the turn.
 */
export function ownTools(registry: Registry, setup: OwnSetup, builtIns: ToolSet): RunTools {
  const { config, registryTools } = setup;
  const definition = definitionOf(setup, registry);
  const registered = [
    ...Object.values(definition?.tools ?? {}),
    ...(config.tools ?? []).map((reference) => findRegistered(reference, registry.tools, registryTools)),
  ];
  const own = Object.fromEntries(registered.map((one) => [one.name, toTool(one, registry, registryTools)]));
  const known = new Map<string, RunTool>([
    ...[...(definition?.brought ?? [])].map(([name, { tool }]) => [name, toBroughtTool(name, tool)] as const),
    ...registered.map((one) => [one.name, toRunTool(one, own[one.name] as ToolSet[string])] as const),
  ]);
  const find = (reference: string): RegisteredTool | undefined =>
    findTool(registry.tools, reference) ?? findTool(registryTools, reference);
  const versions = new Map(registered.map((one) => [one.name, versionOf(one, find)]));
  return {
    tools: mergeToolSets(builtIns, offered(own, definition)),
    isAnyVisible: [...known.values()].some((one) => one.isVisible),
    named: (name) => known.get(name),
    versionOf: (name) => versions.get(name) ?? '',
    middleware: new Map(
      registered.flatMap(({ name, middleware = [] }) => (middleware.length === 0 ? [] : [[name, middleware]])),
    ),
    isWithoutEffects: (name) => (own[name] as Partial<AnyTool> | undefined)?.effects === 'none',
  };
}

type OwnSetup = Pick<RunSetup, 'config' | 'registryTools' | 'definition'>;

function definitionOf(
  { config, definition }: OwnSetup,
  { definitions = {} }: Registry,
): CompiledDefinition | undefined {
  if (config.definition === undefined || definition !== undefined) return definition;
  const message = `The agent's configuration ${unknownDefinition(config.definition, definitions)}`;
  throw new LastcallError('unknown_definition', message);
}

/** The tools that are offered in every step. In an agent with modes, the mode of the run picks from the tools of the definition. */
function offered(own: ToolSet, definition: CompiledDefinition | undefined): ToolSet {
  if (definition === undefined) return own;
  const { modes, rewind, tools } = definition;
  const picked = modes === undefined ? [] : Object.values(tools).filter(({ kind }) => kind === 'typescript');
  const all = Object.entries(own).filter(([name]) => !picked.some((one) => one.name === name));
  const rewinds = rewind !== undefined && modes === undefined;
  return { ...Object.fromEntries(all), ...(rewinds ? { [REWIND_TOOL]: rewindTool } : {}) };
}

/** A tool that a section, a plugin or `rewind` brings. Only calls that people have to see are visible. */
export function toBroughtTool(name: string, tool: ToolSet[string]): RunTool {
  return {
    name,
    isVisible: needsPeople(tool),
    isJob: false,
    isSilent: false,
    tool,
    inputSchema: () => advertisedInput(name, tool),
  };
}

/**
 * A tool in TypeScript does not change during the life of the process. The version of a sub-agent includes its tools.
 */
function versionOf(one: RegisteredTool, find: (reference: string) => RegisteredTool | undefined): string {
  if (one.kind === 'typescript') return '';
  const parts = new Set<RegisteredTool>([one]);
  // The loop also visits parts that are added while it runs.
  for (const part of parts)
    for (const { reference } of namedBySubAgent(part, [])) {
      const named = find(reference);
      if (named !== undefined) parts.add(named);
    }
  return createHash('sha256')
    .update(canonicalJson([...parts].map(toDefinition)))
    .digest('base64');
}

/** The tool without the id and version of its row. */
function toDefinition(one: RegisteredTool): object {
  if (one.kind === 'typescript') return { name: one.name };
  const { id: _id, version: _version, ...definition } = one;
  return definition;
}

/**
 * A tool of the configuration file comes before one of the registry, because the name may have been added to the file
 * later. The tools that come with the gateway are last, so that users can define their own `complete_task`.
 */
function findRegistered(
  reference: string | ToolConfig,
  ofFile: RegisteredTools,
  ofRegistry: RegisteredTools,
): RegisteredTool {
  if (typeof reference !== 'string') return { ...reference, kind: 'configured' };
  const found = findTool(ofFile, reference) ?? findTool(ofRegistry, reference) ?? findTool(TASK_TOOLS, reference);
  if (found !== undefined) return found;
  const message = `The agent's configuration names the tool "${reference}", but this gateway has no tool with that name or id.`;
  throw new LastcallError('unknown_tool', message);
}

function toRunTool(one: RegisteredTool, tool: ToolSet[string]): RunTool {
  const { name, display, answerers, expiresInMs, grants } = one;
  const resultSchema = one.kind === 'configured' ? one.resultSchema : undefined;
  return {
    name,
    isVisible: isVisible(one),
    isSilent: one.kind === 'typescript' && one.isSilent === true,
    display,
    answerers,
    expiresInMs,
    grants,
    tool: one.kind === 'typescript' ? tool : undefined,
    resultSchema,
    isJob: one.kind === 'configured' && one.executionType === 'external' && isInteractive(one),
    hasNestedTools: one.kind === 'configured' && isSubAgent(one.execution) && !isAlone(one),
    inputSchema: () => advertisedInput(name, tool),
  };
}

/** True for a sub-agent without tools: it only writes a text. */
function isAlone({ execution }: ToolConfig): boolean {
  const { agentConfig } = (execution ?? {}) as { readonly agentConfig?: SubAgentConfig };
  return (agentConfig?.tools ?? []).length === 0 && agentConfig?.definition === undefined;
}

/** `ofRegistry` contains the tools of the registry that sub-agents may name. */
export function toTool(one: RegisteredTool, registry: Registry, ofRegistry: RegisteredTools = {}): ToolSet[string] {
  if (one.kind === 'typescript') return one.tool;
  const run = runnable(one, registry, ofRegistry);
  const { terminal, idempotent, approval, keepLatest } = one;
  const timeoutMs = run.timeoutMs ?? one.timeoutMs;
  const settings = { terminal, idempotent, timeoutMs, approval, keepLatest, effects: one.effects ?? run.effects };
  const set = { [one.name]: run.tool };
  const configured = configureTools(set, { [one.name]: defined(settings) })[one.name] as AnyTool;
  return one.id === undefined ? configured : { ...configured, id: one.id };
}

interface RunnableTool {
  readonly tool: AnyTool;
  /** The default that a configuration can override. */
  readonly effects?: 'none' | 'session';
  readonly timeoutMs?: number;
}

function runnable(config: ToolConfig, registry: Registry, ofRegistry: RegisteredTools): RunnableTool {
  const { outgoing = publicOnly() } = registry;
  if (isInteractive(config)) return interactiveTool(config);
  if (isTemplate(config.execution)) return templateTool(config);
  if (isImage(config.execution)) return imageTool(config, imageHost(config, registry));
  if (isSubAgent(config.execution)) return subAgentTool(config, subAgentHost(registry, ofRegistry));
  return hasUrl(config.execution) ? httpTool(config, outgoing) : fixedValueTool(config);
}

function imageHost(config: ToolConfig, { images }: Registry): ImageHost {
  if (images === undefined) throw new LastcallError('model', 'This gateway cannot make images.');
  return {
    model: images.model,
    maxBytes: () => currentRun().services.limits.artifactBytes,
    store() {
      const run = currentRun();
      const { files } = images;
      return (bytes, mediaType) => run.storeArtifact({ files, bytes, mediaType, isVisible: isVisible(config) });
    },
  };
}

/** The tools of a sub-agent are made when it is first called, because sub-agents may refer to each other in a cycle. */
function subAgentHost(registry: Registry, ofRegistry: RegisteredTools): SubAgentHost {
  let made: SubAgentSetup | undefined;
  const all = [registry.tools, ofRegistry, TASK_TOOLS];
  const labelOf = (name: string): string => {
    if (isOfProject(ofRegistry[name])) return OF_PROJECT;
    return all.some((tools) => Object.hasOwn(tools, name)) ? name : 'unknown';
  };
  return {
    setupOf(config) {
      made ??= subAgentSetup(config, registry, ofRegistry);
      return made;
    },
    model: async (name) => currentRun().subAgents.forTurnsInCalls(withShortSchemas(await registry.model(name))),
    middleware() {
      const { services, subAgents } = currentRun();
      const { outputBytes } = services.limits;
      // The part that is cut off is not stored, because a sub-agent has no tool to read it.
      const { middleware } = createOutputLimit({ outputBytes, keptOutputBytes: outputBytes });
      const known = registry.outgoing?.secrets.known ?? new KnownSecrets();
      return [middleware, ...traceCalls(registry), subAgents.counting, removeSecrets(known)];
    },
    run: () => currentRun().subAgents,
    onEvent(event) {
      if (registry.metrics !== undefined) countCall(registry.metrics, event, labelOf);
    },
  };
}

/** What a sub-agent has: of its definition and of its configuration. */
function subAgentSetup(config: SubAgentConfig, registry: Registry, ofRegistry: RegisteredTools): SubAgentSetup {
  const definition = subAgentDefinition(config, registry);
  const registered = [
    ...Object.values(definition?.tools ?? {}),
    ...(config.tools ?? []).map((reference) => findRegistered(reference, registry.tools, ofRegistry)),
  ];
  const jobs = registered.find((one) => one.kind === 'configured' && isForWorkers(one));
  if (jobs !== undefined)
    throw new LastcallError('unknown_tool', `A sub-agent cannot use "${jobs.name}": workers answer its calls.`);
  const { instructions: own = '', policies = [] } = definition ?? {};
  const { instructions: text = '' } = config;
  const tools = mergeToolSets(...registered.map((one) => ({ [one.name]: toTool(one, registry, ofRegistry) })));
  const named = (toolName: string) => registered.find(({ name }) => name === toolName);
  const find = (reference: string) => findTool(registry.tools, reference) ?? findTool(ofRegistry, reference);
  const definitionOf = async (toolName: string): Promise<string> => {
    const [one, tool] = [named(toolName), tools[toolName]];
    return definitionOfTool(tool, {
      version: one === undefined ? '' : versionOf(one, find),
      inputSchema: tool && (await advertisedInput(toolName, tool)),
    });
  };
  return {
    instructions:
      typeof own === 'string'
        ? joinTexts(own, text)
        : mapPrompt(own, ({ body, tools }) => ({ body: joinTexts(body, text), tools })),
    tools,
    ...(policies.length === 0 ? {} : { policies }),
    waitOf(toolName) {
      const one = named(toolName);
      const { answerers, expiresInMs } = one ?? {};
      return { answerers, expiresInMs, resultSchema: one?.kind === 'configured' ? one.resultSchema : undefined };
    },
    definitionOf,
    async whyVoid(toolName, asked) {
      return asked === (await definitionOf(toolName)) ? undefined : changedSinceAsked(toolName);
    },
  };
}

function subAgentDefinition(
  { definition: name }: SubAgentConfig,
  { definitions = {} }: Registry,
): CompiledDefinition | undefined {
  if (name === undefined) return undefined;
  const definition = definitionNamed(name, definitions);
  if (definition === undefined)
    throw new LastcallError('unknown_definition', `A sub-agent ${unknownDefinition(name, definitions)}`);
  if (definition.machine !== undefined || definition.modes !== undefined)
    throw new LastcallError(
      'unknown_definition',
      `A sub-agent cannot have the definition "${name}": it is a machine or has modes.`,
    );
  return definition;
}

function publicOnly(): Outgoing {
  return { egress: createEgress(), secrets: createSecrets({ env: {}, names: [], known: new KnownSecrets() }) };
}

/**
 * A tool whose calls are answered by a person or another program. Its own code only asks, so it may run again after a
 * crash.
 */
function interactiveTool(config: ToolConfig): { tool: AnyTool; effects: 'session' } {
  const made = dataTool({
    description: config.description,
    inputSchema: dataSchema(config.inputSchema),
    execute: (_input: unknown, ctx: ToolContext) => {
      const { kind, position } = currentRun();
      if (kind.hasSpaces && isVisible(config) && position().activeSpaceId === null)
        return fail('You have no active space, so no one could answer. Call enter_space first.', {
          code: 'no_active_space',
        });
      if (kind.hasSpaces && config.answerers === undefined && isUnseenSubAgent())
        return fail('Your calls are not shown in any space, so no one could answer. Go on without an answer.');
      const message = toJson({ status: 'pending', pendingToolCallId: ctx.toolCallId, note: kind.pendingNote });
      return pending({ display: config.display, message });
    },
  });
  return { tool: made, effects: 'session' };
}

/** A tool that returns a fixed value. */
function fixedValueTool(config: ToolConfig): { tool: AnyTool; effects: 'none' } {
  const { value } = (config.execution ?? {}) as { value?: unknown };
  const made = dataTool({
    description: config.description,
    inputSchema: dataSchema(config.inputSchema),
    execute: () => value,
  });
  return { tool: made, effects: 'none' };
}

function defined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
