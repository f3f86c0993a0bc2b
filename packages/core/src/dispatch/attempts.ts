import { LastcallError, PolicyDenied } from '../errors.ts';
import type { MiddlewareCall } from '../middleware/middleware.ts';
import type { Policy } from '../policies/policy.ts';
import { errorText } from '../results/describe-error.ts';
import { fail, isToolResult, pending } from '../results/result.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { SessionEvent } from '../session/slice.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import { CallContext } from './call-context.ts';
import type { CallRun } from './call-run.ts';
import { guardFilesystem } from './check-policies.ts';
import { toHostSignal } from './host-signal.ts';
import { lastYield } from './last-yield.ts';

/**
 * The runs of one call. Each opens a draft of its own on the state before the call, so a repetition never sees what a
 * failed run left. At most one draft is undecided at any time: that of the last run, if it succeeded.
 */
export class Attempts {
  readonly #run: CallRun;
  readonly #tool: ResolvedTool;
  readonly #policies: readonly Policy[];
  #draft: SessionLayer | undefined;
  #count = 0;
  #state: 'idle' | 'running' | 'over' = 'idle';
  #dropping: Promise<void> | undefined;
  #outer: SessionLayer | undefined;
  /** A signal to the host that a run threw: no middleware may keep it. */
  signal: Error | undefined;

  constructor(run: CallRun, tool: ResolvedTool, policies: readonly Policy[]) {
    this.#run = run;
    this.#tool = tool;
    this.#policies = policies;
  }

  /** What holds the writes of the last run, undecided. */
  get draft(): SessionLayer | undefined {
    return this.#draft;
  }

  /** Runs the tool, through the middleware, outermost first. */
  start(input: unknown): unknown {
    const { middleware } = this.#run;
    if (middleware.length === 0 && this.#tool.middleware.length === 0) return this.#attempt(input);
    const call: MiddlewareCall = { callId: this.#run.callId, toolName: this.#run.toolName, input };
    const first = this.#wrap([...middleware, ...this.#tool.middleware], (last) => this.#attempt(last.input));
    return first(call);
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** The call has ended without its tool: from here on nothing it does counts. Gives the draft to be discarded. */
  async giveUp(): Promise<SessionLayer | undefined> {
    this.#state = 'over';
    const draft = this.#draft;
    this.#draft = undefined;
    draft?.close();
    // A rollback that is under way is waited for: until then something of the call may still be there.
    await this.#dropping;
    return draft;
  }

  /** Lets go of what the middleware used. */
  release(): void | Promise<void> {
    return this.#outer?.discard();
  }

  #wrap(
    list: CallRun['middleware'],
    run: (call: MiddlewareCall) => Promise<unknown>,
  ): (call: MiddlewareCall) => Promise<unknown> {
    // Middleware runs outside the draft: it sees the session, and what it does is not undone with an attempt.
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
    // After the end nothing comes any more: an error would let a middleware that retries spin for ever. The limit may be
    // hit before the end is known here: a middleware that waited for its signal wakes up first.
    if (this.#state === 'over' || this.#run.limit.hit !== undefined) return new Promise(() => {});
    if (this.#state === 'running')
      throw new LastcallError('middleware', 'A middleware called next() while the tool was still running.');
    this.#state = 'running';
    try {
      if (this.#draft !== undefined) await this.#drop();
      const draft = this.#open(input);
      const ctx = new CallContext(this.#run, draft, ++this.#count);
      const begun = this.#begin(input, ctx);
      const given = begun instanceof Promise ? await begun : begun;
      // What the tool gives in the end: of a promise its value, of values over time the last, of a promise of those too.
      const returned = isPrimitive(given) ? given : await lastYield(given, ctx, draft, this.#run.clock);
      if (draft.breach !== undefined) throw draft.breach.error;
      if (isToolResult(returned) && returned.status === 'error') await this.#drop();
      return returned;
    } catch (thrown) {
      this.signal ??= toHostSignal(thrown, this.#run.limit.deadline);
      await this.#drop();
      throw thrown;
    } finally {
      if (!this.#isOver) this.#state = 'idle';
    }
  }

  /** Runs the tool; or, where somebody else answers, takes their answer or waits for it. */
  #begin(input: unknown, ctx: CallContext): unknown {
    const { answer } = this.#run;
    if (answer !== undefined && 'result' in answer) return answer.result;
    if (answer !== undefined && 'error' in answer) return fail(answer.error);
    if (this.#tool.execute === undefined) return pending();
    return this.#tool.execute(input as never, (this.#tool.origin === 'lastcall' ? ctx : ctx.forAiSdk()) as never);
  }

  #open(input: unknown): SessionLayer {
    const guarded = this.#policies.some((policy) => policy.guardFilesystem !== undefined);
    const draft = this.#run.session.open({
      readOnly: this.#tool.effects === 'none',
      guard: guarded ? (filesystem, layer) => this.#guard(filesystem, layer, input) : undefined,
    });
    this.#draft = draft;
    return draft;
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
      // It fails closed: a guard that could not be set up guards nothing.
      return deny(`a policy failed to guard the files: ${errorText(error)}`);
    }
  }

  #drop(): void | Promise<void> {
    if (this.#draft === undefined || this.#isOver) return;
    const draft = this.#draft;
    this.#draft = undefined;
    const dropping = draft.discard();
    // Where it fails the session is poisoned, and says so once the call has been told of.
    this.#dropping = dropping?.catch(() => {});
    return this.#dropping;
  }

  // A method, because the state changes behind the compiler's back while a tool is awaited.
  get #isOver(): boolean {
    return this.#state === 'over';
  }
}

function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && typeof value !== 'function');
}

/** A promise that a middleware may leave unread without bringing the process down. */
function heard(promise: Promise<unknown>): Promise<unknown> {
  promise.catch(() => {});
  return promise;
}

/** Each run gets arguments of its own: what one does to them is not seen by the next. */
function copyOf(input: unknown): unknown {
  try {
    return structuredClone(input);
  } catch {
    // Functions and the like, which a schema's transform may have made, cannot be copied.
    return input;
  }
}
