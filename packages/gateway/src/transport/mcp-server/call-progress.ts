import type { ServerContext } from '@modelcontextprotocol/server';
import { clip } from '../../domain/transcript/clip.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import { RUN_ID } from './tool-result.ts';

const LONGEST_MESSAGE = 500;
/** More notifications per second would only flood the client. */
const MOST_PER_SECOND = 50;

interface Told {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

interface ProgressOptions {
  readonly runId: string;
  /** True if the run is the call of one tool, whose progress is the progress of the call. */
  readonly isOneTool: boolean;
  /** True if the client asked for log messages: reports of tools are then also sent as log messages. */
  readonly isLogged: boolean;
}

/** Reports the progress of a call to a client that asked for it. The numbers only rise, as the protocol requires. */
export class CallProgress {
  readonly #ctx: ServerContext;
  readonly #runId: string;
  readonly #isOneTool: boolean;
  readonly #isLogged: boolean;
  #last = -1;
  #second = 0;
  #count = 0;

  constructor(ctx: ServerContext, { runId, isOneTool, isLogged }: ProgressOptions) {
    this.#ctx = ctx;
    this.#runId = runId;
    this.#isOneTool = isOneTool;
    this.#isLogged = isLogged;
  }

  get isWanted(): boolean {
    return this.#isLogged || this.#ctx.mcpReq._meta?.progressToken !== undefined;
  }

  /** With the run's id, a client that was disconnected can find its result. */
  started(): void {
    this.#send({ progress: 0, message: `Run ${this.#runId} has started.` });
  }

  /** Reports the calls of a run, and the progress of its tools. */
  tell({ type, payload }: StreamEvent): void {
    const { toolName = '', value } = payload as { readonly toolName?: string; readonly value?: unknown };
    if (type === 'tool-call.start' && !this.#isOneTool) this.#next(`Calls ${toolName}.`);
    if (type === 'tool-call.pending') this.#next(`${toolName} waits for an answer.`);
    if (type !== 'tool-call.progress') return;
    this.#report(value);
    if (this.#isLogged) this.#notify('notifications/message', { level: 'info', data: value });
  }

  /** A tool that reports `{ progress, total?, message? }` already uses the protocol's fields. */
  #report(value: unknown): void {
    const { progress, total, message } = (value ?? {}) as Record<string, unknown>;
    const text = typeof message === 'string' ? message : typeof value === 'string' ? value : toJson(value);
    if (typeof progress !== 'number' || !this.#isOneTool) this.#next(text);
    else if (progress > this.#last)
      this.#send({
        progress,
        ...(typeof total === 'number' ? { total } : {}),
        ...(typeof message === 'string' ? { message } : {}),
      });
  }

  #next(message: string): void {
    this.#send({ progress: Math.floor(this.#last) + 1, message });
  }

  #send({ message, ...numbers }: Told): void {
    const progressToken = this.#ctx.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    this.#last = numbers.progress;
    const told = message === undefined ? {} : { message: clip(message, LONGEST_MESSAGE) };
    this.#notify('notifications/progress', { progressToken, ...numbers, ...told });
  }

  #notify(method: string, params: Readonly<Record<string, unknown>>): void {
    if (this.#isTooMuch()) return;
    const notification = { method, params: { ...params, _meta: { [RUN_ID]: this.#runId } } };
    // A failed notification is ignored: the client has disconnected.
    void this.#ctx.mcpReq.notify(notification).catch(() => {});
  }

  #isTooMuch(): boolean {
    const second = Math.floor(Date.now() / 1_000);
    this.#count = second === this.#second ? this.#count + 1 : 1;
    this.#second = second;
    return this.#count > MOST_PER_SECOND;
  }
}
