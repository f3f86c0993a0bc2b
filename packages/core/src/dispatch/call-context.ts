import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Budget } from '../budget.ts';
import { LastcallError } from '../errors.ts';
import type { Filesystem } from '../files/filesystem.ts';
import type { Logger } from '../logger.ts';
import type { Resources } from '../session/resource.ts';
import type { Session } from '../session/session.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { PromptLike, ToolContext } from '../tools/tool-context.ts';
import type { NestedTurnOptions } from '../turn/turn-options.ts';
import type { CallRun } from './call-run.ts';

/** The context of one run of a call. Getters, because most tools need little of it and every call makes one. */
export class CallContext implements ToolContext {
  readonly attempt: number;
  readonly #run: CallRun;
  readonly #layer: SessionLayer;

  constructor(run: CallRun, layer: SessionLayer, attempt: number) {
    this.#run = run;
    this.#layer = layer;
    this.attempt = attempt;
  }

  /** The call a context belongs to: what a nested call inherits beyond what tools may see. */
  static runOf(ctx: ToolContext | undefined): CallRun | undefined {
    return ctx !== undefined && #run in ctx ? ctx.#run : undefined;
  }

  get toolCallId(): string {
    return this.#run.callId;
  }

  get toolName(): string {
    return this.#run.toolName;
  }

  get idempotencyKey(): string {
    return this.#run.idempotencyKey;
  }

  get session(): Session {
    return this.#layer;
  }

  get resources(): Resources {
    return this.#layer.resources;
  }

  get filesystem(): Filesystem {
    return this.#layer.filesystem;
  }

  get deadline(): number | undefined {
    return this.#run.limit.deadline;
  }

  get budget(): Budget | undefined {
    return this.#run.budget;
  }

  get abortSignal(): AbortSignal {
    return this.#run.limit.signal;
  }

  get messages(): readonly LanguageModelV4Message[] {
    return this.#run.messages;
  }

  get prompt(): PromptLike | undefined {
    return this.#run.prompt;
  }

  get logger(): Logger {
    return this.#run.logger;
  }

  get runTurn(): ToolContext['runTurn'] {
    return async (options) => {
      const { runTurn } = this.#run;
      if (runTurn === undefined)
        throw new LastcallError(
          'options',
          'ctx.runTurn is there inside a turn; outside one, call runTurn({ model, parent: ctx, … }).',
        );
      return (await runTurn(options as NestedTurnOptions, this)) as never;
    };
  }

  get progress(): (value: unknown) => void {
    // A function of its own, because tools take it out of the context: `const { progress } = ctx`. Late progress is dropped
    // and not thrown: it often comes from a timer, where an error would end the process.
    return (value) => {
      if (!this.#layer.isOpen) return;
      this.#run.emit?.({ type: 'tool-call.progress', callId: this.#run.callId, toolName: this.#run.toolName, value });
    };
  }
}
