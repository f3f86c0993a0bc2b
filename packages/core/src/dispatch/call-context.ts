import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Budget } from '../budget.ts';
import type { NestedTurnOptions, PromptLike, ToolContext } from '../contract/tool-context.ts';
import { systemClock } from '../defaults.ts';
import { LastcallError } from '../errors.ts';
import type { Filesystem } from '../files/filesystem.ts';
import type { Logger } from '../logger.ts';
import type { Resources } from '../session/resource.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { CallRun } from './call-run.ts';

// Enumerable, so that a context that a wrapper spread into another object is still recognised as this call's.
const RUN: unique symbol = Symbol('lastcall.run') as never;

/**
 * The context of one run of a call. Every call makes one, so expensive fields are made on demand, by getters on the
 * prototype: an object literal with getters costs more than the rest of the pipeline together.
 */
export class CallContext implements ToolContext {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly session: SessionLayer;
  readonly budget: Budget | undefined;
  readonly prompt: PromptLike | undefined;
  readonly logger: Logger;

  constructor(run: CallRun, layer: SessionLayer, attempt: number) {
    (this as unknown as Marked)[RUN] = run;
    this.toolCallId = run.callId;
    this.toolName = run.toolName;
    this.idempotencyKey = run.idempotencyKey;
    this.attempt = attempt;
    this.session = layer;
    this.budget = run.budget;
    this.prompt = run.prompt;
    this.logger = run.logger;
  }

  /**
   * The same context with the AI SDK's fields as own properties: wrappers of its tools spread their options, and
   * nothing must get lost. Not done for every call: defining them costs as much as a schema.
   */
  forAiSdk(): this {
    return Object.defineProperties(this, OWN);
  }

  get abortSignal(): AbortSignal {
    return markedRun(this).limit.signal;
  }

  get messages(): readonly LanguageModelV4Message[] {
    return markedRun(this).messages();
  }

  get answer(): ToolContext['answer'] {
    const { answer, isResumed } = markedRun(this);
    return isResumed === true ? (answer as ToolContext['answer']) : undefined;
  }

  get resources(): Resources {
    return this.session.resources;
  }

  get filesystem(): Filesystem {
    return this.session.filesystem;
  }

  get deadline(): number | undefined {
    return markedRun(this).limit.deadline;
  }

  // Returns bound functions, because tools destructure the context: `const { progress } = ctx`.
  get progress(): (value: unknown) => void {
    const run = markedRun(this);
    const layer = this.session;
    return (value) => {
      // Late progress is dropped and does not throw: it often comes from a timer, where an error would end the process.
      if (layer.isOpen) run.emit?.({ type: 'tool-call.progress', callId: run.callId, toolName: run.toolName, value });
    };
  }

  get runTurn(): ToolContext['runTurn'] {
    return async (options) => {
      const run = markedRun(this);
      if (run.runTurn !== undefined) return (await run.runTurn(options as NestedTurnOptions, this)) as never;
      const hint = 'outside one, call runTurn({ model, parent: ctx, … }).';
      throw new LastcallError('options', `ctx.runTurn is available only inside a turn; ${hint}`);
    };
  }
}

interface Marked {
  [RUN]: CallRun;
}

const OWN: PropertyDescriptorMap & ThisType<Marked> = {
  abortSignal: {
    enumerable: true,
    get() {
      return this[RUN].limit.signal;
    },
  },
  messages: {
    enumerable: true,
    get() {
      return this[RUN].messages();
    },
  },
};

function markedRun(ctx: CallContext): CallRun {
  return (ctx as unknown as Marked)[RUN];
}

/** How long the call may still take. `ctx.deadline` is a time of its turn's clock, which may differ from the system's. */
export function remainingMs(ctx: ToolContext): number | undefined {
  const { deadline } = ctx;
  return deadline === undefined ? undefined : deadline - (runOf(ctx)?.clock ?? systemClock).now();
}

/** The call that a context belongs to: what a nested call inherits beyond what tools may see. */
export function runOf(ctx: CallContext): CallRun;
export function runOf(ctx: ToolContext | undefined): CallRun | undefined;
export function runOf(ctx: ToolContext | undefined): CallRun | undefined {
  return (ctx as Partial<Marked> | undefined)?.[RUN];
}
