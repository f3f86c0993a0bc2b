import {
  type AnyTool,
  configureTools,
  createSession,
  fail,
  filterToolSet,
  type JsonSchemaObject,
  LastcallError,
  mergeToolSets,
  pending,
  type ToolContext,
  type ToolSet,
  tool,
} from '@lastcall/core';
import { advertise } from '@lastcall/core/internal';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { Limits } from '../../config/limits.ts';
import { findTool, type RegisteredTool } from '../../config/registered-tool.ts';
import type { Answerers, ToolConfig, ToolDisplay } from '../../config/tool-config.ts';
import { isInteractive, isVisible } from '../../config/visibility.ts';
import { toJson } from '../../ports/store/json.ts';
import { goalTools } from '../tools/goal-tools.ts';
import { memoryTools } from '../tools/memory-tools.ts';
import { planTools } from '../tools/plan-tools.ts';
import { readOutputTool } from '../tools/read-output.ts';
import { spaceTools } from '../tools/space-tools.ts';
import { currentCycle } from './cycle-context.ts';
import type { Registry } from './registry.ts';

/** What the gateway knows of an agent's tool beyond how it runs. */
export interface CycleTool {
  readonly name: string;
  readonly isVisible: boolean;
  readonly display?: ToolDisplay | undefined;
  readonly answerers?: Answerers | undefined;
  readonly resultSchema?: JsonSchemaObject | undefined;
  readonly expiresInMs?: number | undefined;
  /** As the model is told it. */
  inputSchema(): Promise<JsonSchemaObject | undefined>;
}

export interface CycleTools {
  readonly tools: ToolSet;
  /** Whether a space sees calls of any of them as cards. */
  readonly isAnyVisible: boolean;
  /** Undefined for built-in tools, which are never visible, and for unknown ones. */
  named(name: string): CycleTool | undefined;
}

/**
 * An agent's tools: the built-in ones, which cannot be overridden, and those its configuration names. Made once for a configuration,
 * because to check them and to work out what their schemas mean takes longer than a cycle.
 */
export function cycleTools(registry: Registry, config: AgentConfig, limits: BuiltInLimits): CycleTools {
  const known = made.get(registry) ?? new WeakMap<AgentConfig, CycleTools>();
  made.set(registry, known);
  const tools = known.get(config) ?? makeTools(registry, config, limits);
  known.set(config, tools);
  return tools;
}

const made = new WeakMap<Registry, WeakMap<AgentConfig, CycleTools>>();

function makeTools(registry: Registry, config: AgentConfig, limits: BuiltInLimits): CycleTools {
  const registered = (config.tools ?? []).map((given) => resolve(given, registry));
  const own = Object.fromEntries(registered.map((one) => [one.name, toTool(one)]));
  const known = new Map(registered.map((one) => [one.name, toCycleTool(one, own)]));
  return {
    tools: mergeToolSets(builtIn(limits), own),
    isAnyVisible: [...known.values()].some((one) => one.isVisible),
    named: (name) => known.get(name),
  };
}

type BuiltInLimits = Pick<Limits, 'messageCharacters'>;

const builtIns = new Map<number, ToolSet>();

function builtIn({ messageCharacters }: BuiltInLimits): ToolSet {
  const known = builtIns.get(messageCharacters);
  if (known !== undefined) return known;
  const tools = mergeToolSets(
    spaceTools(currentCycle, { messageCharacters }),
    goalTools(currentCycle),
    memoryTools(currentCycle),
    planTools(currentCycle),
    {
      read_output: readOutputTool(() => {
        const { read, cycle } = currentCycle();
        return { read, threadId: cycle.lease.threadId };
      }),
    },
  );
  builtIns.set(messageCharacters, tools);
  return tools;
}

function resolve(given: string | ToolConfig, { tools }: Registry): RegisteredTool {
  if (typeof given !== 'string') return { ...given, kind: 'configured' };
  const found = findTool(tools, given);
  if (found !== undefined) return found;
  const message = `The agent's configuration names the tool "${given}", and this gateway has none of that name or id.`;
  throw new LastcallError('unknown_tool', message);
}

function toCycleTool(one: RegisteredTool, tools: ToolSet): CycleTool {
  const { name, display, answerers, expiresInMs } = one;
  const resultSchema = one.kind === 'configured' ? one.resultSchema : undefined;
  return {
    name,
    isVisible: isVisible(one),
    display,
    answerers,
    expiresInMs,
    resultSchema,
    async inputSchema() {
      const [told] = await advertise(filterToolSet(tools, 'include', [name]), {
        session: createSession(),
        pendingAnswered: true,
      });
      return told?.type === 'function' ? (told.inputSchema as JsonSchemaObject) : undefined;
    },
  };
}

function toTool(one: RegisteredTool): ToolSet[string] {
  if (one.kind === 'typescript') return one.tool;
  const run = isInteractive(one) ? ask(one) : tell(one);
  const { terminal, idempotent, timeoutMs, approval, keepLatest } = one;
  const settings = { terminal, idempotent, timeoutMs, approval, keepLatest, effects: one.effects ?? run.effects };
  const set = { [one.name]: run.tool };
  return configureTools(set, { [one.name]: defined(settings) })[one.name] as AnyTool;
}

/** Answered by somebody else: nothing happens here but to ask, so that it may run again after a crash. */
function ask(config: ToolConfig): { tool: AnyTool; effects: 'session' } {
  const made = tool({
    description: config.description,
    inputSchema: config.inputSchema,
    execute: (_input: unknown, ctx: ToolContext) => {
      if (isVisible(config) && currentCycle().cycle.activeSpaceId === null)
        return fail('You are in no space, so nobody could answer. Enter one with enter_space first.', {
          code: 'no_active_space',
        });
      const message = toJson({ status: 'pending', pendingToolCallId: ctx.toolCallId, note: PENDING_NOTE });
      return pending({ display: config.display, message });
    },
  });
  return { tool: made, effects: 'session' };
}

/** It may be read again long after the answer came: it says how things were when it was written. */
const PENDING_NOTE =
  'Pending when this was written. Its outcome comes later, as a tool_result event that names this call.';

/** A fixed value. */
function tell(config: ToolConfig): { tool: AnyTool; effects: 'none' } {
  const { value } = (config.execution ?? {}) as { value?: unknown };
  const made = tool({ description: config.description, inputSchema: config.inputSchema, execute: () => value });
  return { tool: made, effects: 'none' };
}

function defined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
