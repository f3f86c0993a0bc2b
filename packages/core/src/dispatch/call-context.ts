import { LastcallError } from '../errors.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ToolContext } from '../tools/tool-context.ts';
import type { NestedTurnOptions } from '../turn/turn-options.ts';
import type { CallRun } from './call-run.ts';

// Enumerable, so that a context a wrapper spread into another object is still known as this call's.
const RUN: unique symbol = Symbol('lastcall.run') as never;

export interface CallContext extends ToolContext {
  readonly [RUN]: CallRun;
}

/**
 * The context of one run of a call: a plain object, because tools take it apart and wrappers spread it. What costs something
 * is made when it is asked for: most tools need little of it, and every call makes one.
 */
export function createCallContext(run: CallRun, layer: SessionLayer, attempt: number): CallContext {
  return {
    [RUN]: run,
    toolCallId: run.callId,
    toolName: run.toolName,
    idempotencyKey: run.idempotencyKey,
    attempt,
    session: layer,
    get resources() {
      return layer.resources;
    },
    get filesystem() {
      return layer.filesystem;
    },
    get deadline() {
      return run.limit.deadline;
    },
    budget: run.budget,
    get abortSignal() {
      return run.limit.signal;
    },
    messages: run.messages,
    progress: (value) => {
      // Late progress is dropped and not thrown: it often comes from a timer, where an error would end the process.
      if (layer.isOpen) run.emit?.({ type: 'tool-call.progress', callId: run.callId, toolName: run.toolName, value });
    },
    runTurn: async (options) => {
      if (run.runTurn !== undefined)
        return (await run.runTurn(options as NestedTurnOptions, contextOf(run, layer))) as never;
      const hint = 'outside one, call runTurn({ model, parent: ctx, … }).';
      throw new LastcallError('options', `ctx.runTurn is there inside a turn; ${hint}`);
    },
    prompt: run.prompt,
    logger: run.logger,
  };
}

function contextOf(run: CallRun, layer: SessionLayer): CallContext {
  return createCallContext(run, layer, 1);
}

/** The call a context belongs to: what a nested call inherits beyond what tools may see. */
export function runOf(ctx: ToolContext | undefined): CallRun | undefined {
  return (ctx as Partial<CallContext> | undefined)?.[RUN];
}
