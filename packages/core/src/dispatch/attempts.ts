import type { Middleware } from '../contract/middleware.ts';
import type { MiddlewareCall } from '../contract/middleware-for.ts';
import { LastcallError, PolicyDenied, RestoreFailed } from '../errors.ts';
import { isPromise } from '../is-promise.ts';
import type { Policy } from '../policies/policy.ts';
import { errorText } from '../results/describe-error.ts';
import { fail, isToolResult, pending } from '../results/result.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { SessionEvent } from '../session/slice.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import { CallContext } from './call-context.ts';
import type { CallRun } from './call-run.ts';
import { guardFilesystem } from './check-policies.ts';
import { markActedOutside } from './cut-off.ts';
import { toHostSignal } from './host-signal.ts';
import { lastYield } from './last-yield.ts';
import { restoredInTime } from './restore-wait.ts';

/**
 * The runs of one call. Each opens a new draft on the state before the call, so a repetition never sees what a failed
 * run left. At most one draft is undecided at any time: that of the last run, if it succeeded. Without middleware there
 * is one run, and only the tool's result is awaited.
 */
export class Attempts {
  readonly #run: CallRun;
  readonly #tool: ResolvedTool;
  readonly #policies: readonly Policy[];
  #draft: SessionLayer | undefined;
  #ctx: CallContext | undefined;
  #count = 0;
  #state: 'idle' | 'running' | 'over' = 'idle';
  #dropping: Promise<void> | undefined;
  #dropped: SessionLayer[] | undefined;
  #outer: SessionLayer | undefined;
  /** A host signal that a run threw: no middleware may swallow it. */
  #signal: Error | undefined;

  constructor(run: CallRun, tool: ResolvedTool, policies: readonly Policy[]) {
    this.#run = run;
    this.#tool = tool;
    this.#policies = policies;
  }

  /** The undecided draft with the writes of the last run. */
  get draft(): SessionLayer | undefined {
    return this.#draft;
  }

  /** The drafts of runs that did not count. */
  get dropped(): readonly SessionLayer[] | undefined {
    return this.#dropped;
  }

  /** Returns the draft of the run, or opens an empty one if a middleware answered in the tool's place. */
  openDraft(): SessionLayer {
    this.#draft ??= this.#run.session.open({ readOnly: true });
    return this.#draft;
  }

  /** Runs the tool through the middleware, outermost first. Pass what it returns to `finish`. */
  start(input: unknown): unknown {
    const { middleware } = this.#run;
    // Middleware that wraps no calls adds no cost.
    if (middleware.some(wrapsCalls) || this.#tool.middleware.some(wrapsCalls))
      return this.#startThrough([...middleware, ...this.#tool.middleware], input);
    const begun = this.#begin(input, this.#open(input));
    return isPromise(begun) ? Promise.resolve(begun) : begun;
  }

  /** The final result. Throws if the run broke a rule of its session. */
  finish(given: unknown): unknown {
    // A result that went through middleware is already final.
    return this.#outer !== undefined || this.#ctx === undefined ? given : lastOf(given, this.#ctx);
  }

  /** The call has ended without its tool: nothing it does from here on counts. Returns the draft to be discarded. */
  async giveUp(): Promise<SessionLayer | undefined> {
    this.#state = 'over';
    const draft = this.#draft;
    this.#draft = undefined;
    draft?.close();
    // A rollback in progress is awaited: until it ends, changes of the call may still be there.
    if (this.#dropping !== undefined) await this.#waitForDropping(this.#dropping);
    return draft;
  }

  async #waitForDropping(dropping: Promise<void>): Promise<void> {
    const { session, clock, hostDeadline: deadline } = this.#run;
    try {
      await restoredInTime({ clock, deadline }, dropping);
    } catch (error) {
      if (error instanceof RestoreFailed) session.poison(error);
    }
  }

  /** Releases what the middleware used. */
  release(): void | Promise<void> {
    return this.#outer?.discard();
  }

  async #startThrough(list: CallRun['middleware'], input: unknown): Promise<unknown> {
    const { callId, toolName } = this.#run;
    // A middleware may do the tool's work elsewhere and never call it, so it cannot be ruled out that something was
    // done.
    if (this.#tool.effects === 'external' && list.some(({ call }) => call !== undefined)) markActedOutside(this.#run);
    const through = this.#wrap(list, (last) => this.#attempt(last.input));
    const returned = await through({ callId, toolName, input }).finally(() => this.#startNoMore());
    // A middleware that did not wait for the tool has its answer; what the tool did so far is undone.
    if (this.#state === 'running') {
      const left = await this.giveUp();
      if (left !== undefined) this.#dropped = [...(this.#dropped ?? []), left];
      await left?.discard();
    }
    if (this.#signal !== undefined) throw this.#signal;
    return returned;
  }

  /** The middleware has its answer: a call of `next` that comes later starts nothing. One that runs is ended after this. */
  #startNoMore(): void {
    if (this.#state === 'idle') this.#state = 'over';
  }

  #wrap(
    list: CallRun['middleware'],
    run: (call: MiddlewareCall) => Promise<unknown>,
  ): (call: MiddlewareCall) => Promise<unknown> {
    // Middleware runs outside the draft: it sees the session, and its effects are not undone with an attempt.
    this.#outer = this.#run.session.open({ readOnly: true });
    const ctx = new CallContext(this.#run, this.#outer, 1);
    return list.reduceRight<(call: MiddlewareCall) => Promise<unknown>>(
      (next, middleware) => async (call) =>
        middleware.call === undefined
          ? next(call)
          : middleware.call((changed = call) => heard(next(changed)), call, ctx),
      (call) => heard(run({ ...call, input: copyOf(call.input) })),
    );
  }

  async #attempt(input: unknown): Promise<unknown> {
    // After the end this never resolves: an error would let a middleware that retries spin for ever. The limit may be
    // hit before the end is known here, because a middleware that waited for its signal wakes up first.
    if (this.#state === 'over' || this.#run.limit.hit !== undefined) return new Promise(() => {});
    if (this.#state === 'running')
      throw new LastcallError('middleware', 'A middleware called next() while the tool was still running.');
    this.#state = 'running';
    try {
      if (this.#draft !== undefined) await this.#drop();
      const ctx = this.#open(input);
      const returned = await lastOf(await this.#begin(input, ctx), ctx);
      if (isToolResult(returned) && returned.status === 'error') await this.#drop();
      return returned;
    } catch (thrown) {
      this.#signal ??= toHostSignal(thrown, this.#run.limit.deadline);
      await this.#drop();
      throw thrown;
    } finally {
      if (!this.#isOver) this.#state = 'idle';
    }
  }

  /** Opens a draft for a run. */
  #open(input: unknown): CallContext {
    const guarded = this.#policies.some((policy) => policy.guardFilesystem !== undefined);
    this.#draft = this.#run.session.open({
      readOnly: this.#tool.effects === 'none',
      guard: guarded ? (filesystem, layer) => this.#guard(filesystem, layer, input) : undefined,
    });
    this.#ctx = new CallContext(this.#run, this.#draft, ++this.#count);
    return this.#ctx;
  }

  /** Returns the result or error of a given answer; otherwise runs the tool. Without `execute` the call waits. */
  #begin(input: unknown, ctx: CallContext): unknown {
    const { answer, isResumed } = this.#run;
    if (answer !== undefined && isResumed !== true) {
      if ('result' in answer) return answer.result;
      if ('error' in answer) return fail(answer.error);
    }
    if (this.#tool.execute === undefined) return pending();
    if (this.#tool.effects === 'external') markActedOutside(this.#run);
    return this.#tool.execute(input as never, (this.#tool.origin === 'lastcall' ? ctx : ctx.forAiSdk()) as never);
  }

  #guard(filesystem: SessionLayer['filesystem'], layer: SessionLayer, input: unknown): SessionLayer['filesystem'] {
    const { callId, toolName, logger } = this.#run;
    const deny = (reason: string): never => {
      const error = new PolicyDenied(reason);
      layer.breach ??= { error };
      throw error;
    };
    const record = (event: SessionEvent): void => layer.record(event);
    try {
      return guardFilesystem(this.#policies, { callId, toolName, input }, filesystem, {
        session: layer,
        logger,
        deny,
        record,
      });
    } catch (error) {
      // It fails closed: a guard that could not be set up protects nothing.
      return deny(`a policy failed to guard the files: ${errorText(error)}`);
    }
  }

  #drop(): void | Promise<void> {
    if (this.#draft === undefined || this.#isOver) return;
    const draft = this.#draft;
    this.#draft = undefined;
    this.#dropped ??= [];
    this.#dropped.push(draft);
    const dropping = draft.discard();
    // If this fails, the session is poisoned and says so, after the call has been reported.
    this.#dropping = dropping?.catch(() => {});
    return this.#dropping;
  }

  // A method, because the state changes while a tool is awaited and the compiler does not see it.
  get #isOver(): boolean {
    return this.#state === 'over';
  }
}

/** The final value of a tool. If it broke a rule of the session, the run fails, even if the tool caught the error. */
function lastOf(given: unknown, ctx: CallContext): unknown {
  const last = lastYield(given, ctx);
  return last instanceof Promise ? last.then((value) => unbroken(value, ctx.session)) : unbroken(last, ctx.session);
}

function unbroken(returned: unknown, { breach }: SessionLayer): unknown {
  if (breach !== undefined) throw breach.error;
  return returned;
}

/** A promise that a middleware may leave unread without an unhandled rejection. */
function heard(promise: Promise<unknown>): Promise<unknown> {
  promise.catch(() => {});
  return promise;
}

/** Each run gets its own copy of the arguments: changes that one makes are not seen by the next. */
function copyOf(input: unknown): unknown {
  try {
    return structuredClone(input);
  } catch {
    // Functions and the like, which a schema's transform may have made, cannot be copied.
    return input;
  }
}

function wrapsCalls({ call }: Middleware): boolean {
  return call !== undefined;
}
