import { AsyncLocalStorage } from 'node:async_hooks';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import {
  type AnyTool,
  type Entry,
  fail,
  type Middleware,
  type Prompt,
  type ToolContext,
  type ToolSet,
  type Transcript,
  type TurnEvent,
  type TurnOptions,
  type TurnResult,
  type Usage,
} from '@lastcall/core';
import { dataTool } from '@lastcall/core/internal';
import { dataSchemas } from '../../../config/data-schema.ts';
import type { SubAgentConfig, SubAgentExecution } from '../../../config/sub-agent.ts';
import type { ToolConfig } from '../../../config/tool-config.ts';
import { isVisible } from '../../../config/visibility.ts';
import { NestedUsage } from './nested-usage.ts';
import { renderContext } from './render-context.ts';
import { type AskedPeople, askPeople, HeldQuestions, type NestedTools, readWait } from './sub-agent-wait.ts';

/** What a sub-agent needs from the gateway. */
export interface SubAgentHost {
  /** Makes what the sub-agent has. Throws if its definition or one of its tools does not exist or cannot be used. */
  setupOf(config: SubAgentConfig): SubAgentSetup;
  /** The gateway's default model without a name. */
  model(name: string | undefined): LanguageModelV4 | Promise<LanguageModelV4>;
  /** The middleware around the calls of the sub-agent. */
  middleware(): readonly Middleware[];
  /** The run of the running call. */
  run(): SubAgentRun;
  /** Counts its events in the metrics. `model` is undefined for the caller's own model. */
  onEvent(event: TurnEvent): void;
}

export interface SubAgentSetup extends Pick<TurnOptions, 'policies'>, NestedTools {
  readonly instructions: string | Prompt;
  readonly tools: ToolSet;
}

export interface SubAgentRun {
  readonly depthLimit: number;
  /** False if the run is one call that a caller gave: it has no model that a sub-agent could use too. */
  readonly hasModel: boolean;
  /** The people who answer calls that wait. */
  readonly people: AskedPeople;
  /** Counts the requests of sub-agents. */
  readonly counting: Middleware;
  /** A model whose requests are counted too if a tool of a sub-agent runs a turn with it. */
  forTurnsInCalls(model: LanguageModelV4): LanguageModelV4;
  /** Stores what a sub-agent did, and adds to the usage of the run. */
  record(turn: SubAgentRecord): Promise<void>;
}

/** What a sub-agent did in a call, also if it failed. */
export interface SubAgentRecord {
  readonly callId: string;
  readonly usage: Usage;
  readonly entries: readonly Entry[];
}

/** Long enough for a few steps of a slow model. The run's own deadline also applies. */
const DEFAULT_TIMEOUT_MS = 300_000;

/** Lower than for an agent, because a sub-agent has one task. */
const DEFAULT_MAX_STEPS = 20;

/** The sub-agent that makes the running call: how deep it is nested, and whom its calls ask. */
const callers = new AsyncLocalStorage<{
  readonly depth: number;
  readonly people: AskedPeople;
  /** False if the call around it has no card and names no one who answers: then only operators see its questions. */
  readonly isSeen: boolean;
}>();

/** True if the running call is one of a sub-agent whose questions no people see. */
export function isUnseenSubAgent(): boolean {
  return callers.getStore()?.isSeen === false;
}

/** A tool that runs a turn inside the call: with its own model, instructions and tools, and the caller's deadline and budget. */
export function subAgentTool(
  config: ToolConfig,
  host: SubAgentHost,
): { tool: AnyTool; timeoutMs: number; effects?: 'session' } {
  const { agentConfig, includeContext = false, timeout } = config.execution as unknown as SubAgentExecution;
  const execute = async (input: unknown, ctx: ToolContext): Promise<unknown> => {
    const caller = callers.getStore();
    const depth = (caller?.depth ?? 0) + 1;
    const run = host.run();
    const people = caller?.people ?? run.people;
    const isSeen = (caller?.isSeen ?? isVisible(config)) || config.answerers !== undefined;
    if (depth > run.depthLimit)
      return fail(`Sub-agents may be nested ${run.depthLimit} deep, and this one would be deeper.`, {
        code: 'too_deep',
      });
    const context = includeContext ? renderContext(ctx.messages) : undefined;
    return await runSubAgent({ agentConfig, prompt: toPrompt(input), context, ctx, host, run, people, depth, isSeen });
  };
  const made = dataTool({ description: config.description, ...dataSchemas(config), execute });
  const timeoutMs = config.timeoutMs ?? timeout ?? DEFAULT_TIMEOUT_MS;
  // Without tools it has no outside effects, so it may run again after a crash.
  return (agentConfig.tools ?? []).length === 0 && agentConfig.definition === undefined
    ? { tool: made, timeoutMs, effects: 'session' }
    : { tool: made, timeoutMs };
}

type NestedOptions = Parameters<ToolContext['runTurn']>[0];

interface SubAgentCall {
  readonly agentConfig: SubAgentConfig;
  readonly prompt: string;
  readonly context: string | undefined;
  readonly ctx: ToolContext;
  readonly host: SubAgentHost;
  readonly run: SubAgentRun;
  readonly people: AskedPeople;
  readonly depth: number;
  readonly isSeen: boolean;
}

async function runSubAgent(call: SubAgentCall): Promise<unknown> {
  const { agentConfig, prompt, context, ctx, host, run, people, depth, isSeen } = call;
  const { limits, settings } = agentConfig;
  const { waitOf, definitionOf, whyVoid, ...setup } = host.setupOf(agentConfig);
  const waited = ctx.answer === undefined ? undefined : await readWait({ people, whyVoid }, ctx);
  if (ctx.answer !== undefined && waited === undefined)
    return fail('What the sub-agent did before it waited cannot be read any more.');
  const begin = {
    messages: context === undefined ? [] : [{ role: 'user' as const, content: context }],
    prompt,
  };
  const { held = {}, ...goesOn } = waited ?? {};
  const questions = new HeldQuestions(held);
  const usesCallers = agentConfig.model === undefined && (run.hasModel || depth > 1);
  const model = usesCallers ? undefined : await host.model(agentConfig.model);
  const usage = new NestedUsage();
  let entries: readonly Entry[] = [];
  // What came before the wait was recorded then.
  const recorded = waited?.transcript.entries.length ?? 0;
  try {
    const turn: NestedOptions = {
      ...(model === undefined ? {} : { model }),
      ...setup,
      ...(waited === undefined ? begin : goesOn),
      ...(settings === undefined ? {} : { modelSettings: settings as NonNullable<TurnOptions['modelSettings']> }),
      maxSteps: limits?.maxSteps ?? DEFAULT_MAX_STEPS,
      ...(limits?.tokensPerCycle === undefined ? {} : { budget: { tokens: limits.tokensPerCycle } }),
      middleware: host.middleware(),
      onEvent(event) {
        usage.add(event);
        host.onEvent(event);
      },
    };
    const result = await callers.run({ depth, people: questions, isSeen }, () => ctx.runTurn(turn));
    entries = result.transcript.entries;
    return result.stop.reason === 'suspended'
      ? await askPeople(result, { people, questions, ctx, waitOf, definitionOf })
      : toAnswer(result);
  } catch (error) {
    entries = (error as { readonly transcript?: Transcript } | null)?.transcript?.entries ?? [];
    throw error;
  } finally {
    // This also counts a turn that failed, because its usage has been paid for.
    if (!usage.isZero)
      await run.record({ callId: ctx.toolCallId, usage: usage.total, entries: entries.slice(recorded) });
  }
}

/** If the input has a single text field, the prompt is that text. Otherwise it is the input as JSON. */
function toPrompt(input: unknown): string {
  const [value, ...others] = Object.values(input as object) as unknown[];
  return typeof value === 'string' && others.length === 0 && value !== '' ? value : JSON.stringify(input);
}

function toAnswer({ stop, response, output }: TurnResult): unknown {
  if (stop.reason === 'end_turn') return stop.by === 'text' ? response : (output ?? response);
  const said = response === '' ? '' : ` Its last text: ${response}`;
  return fail(`The sub-agent stopped without an answer (${stop.reason}).${said}`);
}
