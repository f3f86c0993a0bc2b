import {
  type AnyTool,
  fail,
  type Middleware,
  type Policy,
  pending,
  type ToolContext,
  type ToolSet,
} from '@lastcall/core';
import { recordedEnd } from '@lastcall/core/internal';
import { callerOf, canRepeat, changesOfCall, repeatChanges } from '@lastcall/machines/internal';
import { BUILT_IN_TOOL_NAMES } from '../../config/reserved-tool-names.ts';
import type { RecordedCall } from '../../domain/forks/recorded-calls.ts';
import type { RunTool, RunTools } from '../run/run-tool.ts';
import type { ForkCall, ForkCalls } from './fork-calls.ts';

/**
 * The tools of a fork: models are offered the same tools as in the original, and no call acts outside by itself.
 *
 * 1. A call that the original made gets the recorded end, with what it changed in the session and in the machine. Its tool does not run,
 *    and no one is asked.
 * 2. Built-in tools run: what they would write is left out, and what they read is as it was (built-in-context.ts).
 * 3. Tools that have no effects outside run.
 * 4. The other calls wait. They run if a person has named the tool and confirmed it: see answer-call.ts.
 *
 * No space sees a call, no worker is offered one, and only operators and the owner of the fork may answer it.
 */
export class ForkTools {
  readonly #calls: ForkCalls;
  readonly #named: RunTools['named'];
  readonly #isMachine: boolean;
  readonly #known = new WeakMap<object, ToolSet>();
  readonly #replayed = new Set<string>();
  #isAsking = false;

  constructor(calls: ForkCalls, { named, ofNodes = false }: Pick<RunTools, 'named' | 'ofNodes'>) {
    this.#calls = calls;
    this.#named = named;
    this.#isMachine = ofNodes;
  }

  /** The same set gives the same result, because what is made of it is kept with it. */
  wrap(tools: ToolSet): ToolSet {
    const known = this.#known.get(tools);
    if (known !== undefined) return known;
    const made: ToolSet = {};
    // A transition is also found by names that are not advertised.
    for (const name of Object.getOwnPropertyNames(tools))
      Object.defineProperty(made, name, {
        value: this.#wrapTool(name, tools[name] as AnyTool),
        enumerable: Object.prototype.propertyIsEnumerable.call(tools, name),
      });
    this.#known.set(tools, made);
    return made;
  }

  /** The tools of the run, as the fork uses them. */
  ofRun(tools: RunTools): RunTools {
    const wrap = (set: ToolSet): ToolSet => this.wrap(set);
    return {
      ...tools,
      outside: tools,
      isAnyVisible: false,
      // The tools of MCP servers may change from step to step.
      get tools() {
        return wrap(tools.tools);
      },
      named: (name) => unseen(tools.named(name)),
    };
  }

  /** Notes which calls wait for a person, and not because those of the original did. */
  get middleware(): Middleware {
    return {
      name: 'fork',
      outcome: (outcome, { callId }) => {
        if (outcome.status === 'pending' && !this.#replayed.has(callId)) this.#isAsking = true;
        return outcome;
      },
    };
  }

  /** True if the turn must stop, because a call waits for a person. */
  get isAsking(): boolean {
    return this.#isAsking;
  }

  #wrapTool(name: string, tool: AnyTool): AnyTool {
    // The provider of the model runs these itself.
    if ('type' in tool && (tool.type === 'provider' || tool.type === 'provider-defined')) return tool;
    const isBuiltIn = BUILT_IN_TOOL_NAMES.includes(name);
    const actsOutside = !isBuiltIn && (!isHarmless(tool) || this.#named(name)?.hasNestedTools === true);
    const isReal = this.#calls.realTools.has(name);
    const approval = this.#approval(name, tool, actsOutside);
    return {
      ...tool,
      // Without an approved call, none of its calls acts outside: after a crash each can simply be made again.
      effects: actsOutside ? (isReal ? 'external' : 'session') : (tool.effects ?? 'session'),
      ...(approval === false ? {} : { approval }),
      ...(tool.policies === undefined ? {} : { policies: tool.policies.map(withoutApproval) }),
      // What the original did outside stays.
      ...(tool.compensate === undefined ? {} : { compensate: isReal ? undefined : () => {} }),
      execute: this.#execute(name, tool, actsOutside),
    } as AnyTool;
  }

  #approval(name: string, tool: AnyTool, actsOutside: boolean): AnyTool['approval'] {
    const own = tool.approval ?? (tool as { needsApproval?: AnyTool['approval'] }).needsApproval ?? false;
    if (!actsOutside && own === false) return false;
    return (input: never, ctx: never) => {
      if (this.#endOf(this.#toCall(name, input, ctx), ctx) !== undefined) return false;
      if (actsOutside) return true;
      return typeof own === 'function' ? own(input, ctx) : own;
    };
  }

  #execute(name: string, tool: AnyTool, actsOutside: boolean): NonNullable<AnyTool['execute']> {
    const run = tool.execute;
    return (input: never, ctx: never) => {
      const call = this.#toCall(name, input, ctx);
      const given = this.#calls.givenTo(call);
      if (given !== undefined) return recordedEnd({ outcome: given, terminal: false });
      const recorded = this.#calls.isApproved(call.callId) ? undefined : this.#endOf(call, ctx);
      if (recorded !== undefined && this.#repeat(recorded, ctx)) {
        const { outcome, isTerminal: terminal, staged } = recorded;
        if (outcome.status === 'pending') this.#replayed.add(call.callId);
        return recordedEnd({ outcome, terminal, slices: staged?.slices });
      }
      if (run === undefined) return pending();
      if (actsOutside && !this.#calls.isApproved(call.callId)) return fail(NOT_CONFIRMED, { code: 'denied' });
      return run.call(tool, input, ctx);
    };
  }

  /** The recorded end of a call, unless what it changed does not fit the machine of the fork. */
  #endOf(call: ForkCall, ctx: ToolContext): RecordedCall | undefined {
    const recorded = this.#calls.endOf(call);
    return recorded === undefined || canRepeat(ctx, this.#changesOf(recorded)) ? recorded : undefined;
  }

  #repeat(recorded: RecordedCall, ctx: ToolContext): boolean {
    return repeatChanges(ctx, this.#changesOf(recorded));
  }

  /** A call that failed has changed nothing. */
  #changesOf({ outcome, staged }: RecordedCall): ReturnType<typeof changesOfCall> {
    return this.#isMachine && outcome.status === 'ok' ? changesOfCall(staged) : [];
  }

  #toCall(toolName: string, input: unknown, ctx: ToolContext): ForkCall {
    const instanceId = this.#isMachine ? callerOf(ctx).instanceId : undefined;
    return { callId: ctx.toolCallId, toolName, input, instanceId };
  }
}

/** The policy, except that it cannot let a call run without a person. */
export function withoutApproval(policy: Policy): Policy {
  return policy.approveCall === undefined ? policy : Object.create(policy, { approveCall: { value: undefined } });
}

const NOT_CONFIRMED = 'This is a fork: the tool acts outside, and no one has confirmed that this call runs for real.';

function isHarmless({ effects, execute }: AnyTool): boolean {
  // Without `execute`, a call only waits.
  return effects === 'none' || effects === 'session' || execute === undefined;
}

function unseen(tool: RunTool | undefined): RunTool | undefined {
  return tool && { ...tool, isVisible: false, isJob: false, answerers: undefined, expiresInMs: undefined };
}
