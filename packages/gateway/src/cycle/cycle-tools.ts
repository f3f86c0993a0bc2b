import {
  type AnyTool,
  advertise,
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
import { goalTools } from '../built-in-tools/goal-tools.ts';
import { memoryTools } from '../built-in-tools/memory-tools.ts';
import { planTools } from '../built-in-tools/plan-tools.ts';
import { spaceTools } from '../built-in-tools/space-tools.ts';
import { findTool, type RegisteredTool } from '../config/registered-tool.ts';
import type { Answerers, ToolConfig, ToolDisplay } from '../config/tool-config.ts';
import { isInteractive, isVisible } from '../config/visibility.ts';
import { readOutputTool } from '../consciousness/read-output.ts';
import { toJson } from '../store/json.ts';
import type { Cycle } from './cycle.ts';
import type { CycleContext } from './cycle-context.ts';
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

/** An agent's tools in a cycle: the built-in ones, which cannot be overridden, and those its configuration names. */
export function cycleTools(context: CycleContext, cycle: Cycle, registry: Registry): CycleTools {
  const registered = (cycle.agent.config.tools ?? []).map((given) => resolve(given, registry));
  const own = Object.fromEntries(registered.map((one) => [one.name, toTool(one, cycle)]));
  const known = new Map(registered.map((one) => [one.name, toCycleTool(one, own)]));
  return {
    tools: mergeToolSets(builtIn(context, cycle), own),
    isAnyVisible: [...known.values()].some((one) => one.isVisible),
    named: (name) => known.get(name),
  };
}

function builtIn(context: CycleContext, cycle: Cycle): ToolSet {
  return mergeToolSets(spaceTools(context, cycle), goalTools(context), memoryTools(context), planTools(context), {
    read_output: readOutputTool(context.services.store.db, cycle.lease.threadId),
  });
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

function toTool(one: RegisteredTool, cycle: Cycle): ToolSet[string] {
  if (one.kind === 'typescript') return one.tool;
  const run = isInteractive(one) ? ask(one, cycle) : tell(one);
  const { terminal, idempotent, timeoutMs, approval, keepLatest } = one;
  const settings = { terminal, idempotent, timeoutMs, approval, keepLatest, effects: one.effects ?? run.effects };
  const set = { [one.name]: run.tool };
  return configureTools(set, { [one.name]: defined(settings) })[one.name] as AnyTool;
}

/** Answered by somebody else: nothing happens here but to ask, so that it may run again after a crash. */
function ask(config: ToolConfig, cycle: Cycle): { tool: AnyTool; effects: 'session' } {
  const made = tool({
    description: config.description,
    inputSchema: config.inputSchema,
    execute: (_input: unknown, ctx: ToolContext) => {
      if (isVisible(config) && cycle.activeSpaceId === null)
        return fail('You are in no space, so nobody could answer. Enter one with enter_space first.', {
          code: 'no_active_space',
        });
      const message = toJson({ status: 'pending', pendingToolCallId: ctx.toolCallId });
      return pending({ display: config.display, message });
    },
  });
  return { tool: made, effects: 'session' };
}

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
