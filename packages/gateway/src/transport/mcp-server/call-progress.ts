import type { ServerContext } from '@modelcontextprotocol/server';
import { clip } from '../../domain/consciousness/clip.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import { toJson } from '../../ports/store/json.ts';
import { RUN_ID } from './tool-result.ts';

const LONGEST_MESSAGE = 500;
/** More than this a second would only be thrown away by the client. */
const SHORTEST_GAP_MS = 20;

/** Tells a client that asked for it how far its call has come. The numbers only rise, as the protocol wants it. */
export class CallProgress {
  readonly #ctx: ServerContext;
  readonly #runId: string;
  #last = -1;
  #lastAt = 0;

  constructor(ctx: ServerContext, runId: string) {
    this.#ctx = ctx;
    this.#runId = runId;
  }

  get isWanted(): boolean {
    return this.#ctx.mcpReq._meta?.progressToken !== undefined;
  }

  /** The id lets a client that is cut off find its result. */
  started(): void {
    this.#send({ progress: 0, message: `Run ${this.#runId} has started.` });
  }

  /** Of a run: the calls that it makes, and what its tools tell. */
  tell({ type, payload }: StreamEvent): void {
    const { toolName = '', value } = payload as { readonly toolName?: string; readonly value?: unknown };
    if (type === 'tool-call.start') this.#next(`Calls ${toolName}.`);
    if (type === 'tool-call.pending') this.#next(`${toolName} waits for an answer.`);
    if (type === 'tool-call.progress') this.#report(value);
  }

  /** A tool that reports `{ progress, total?, message? }` speaks the protocol's own language. */
  #report(value: unknown): void {
    const { progress, total, message } = (value ?? {}) as Record<string, unknown>;
    if (typeof progress !== 'number') this.#next(typeof value === 'string' ? value : toJson(value));
    else if (progress > this.#last)
      this.#send({
        progress,
        ...(typeof total === 'number' ? { total } : {}),
        ...(typeof message === 'string' ? { message } : {}),
      });
  }

  #next(message: string): void {
    if (Date.now() - this.#lastAt >= SHORTEST_GAP_MS) this.#send({ progress: Math.floor(this.#last) + 1, message });
  }

  #send({ message, ...numbers }: { progress: number; total?: number; message?: string }): void {
    const progressToken = this.#ctx.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    this.#last = numbers.progress;
    this.#lastAt = Date.now();
    const told = message === undefined ? {} : { message: clip(message, LONGEST_MESSAGE) };
    const params = { progressToken, ...numbers, ...told, _meta: { [RUN_ID]: this.#runId } };
    // A client that is gone is not told any more.
    void this.#ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  }
}
