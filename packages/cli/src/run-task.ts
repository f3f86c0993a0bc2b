import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Api } from './api.ts';
import { CommandFailed, EXIT } from './exit-code.ts';

export interface Task {
  readonly agent: string;
  readonly message: string;
  /** The run goes on until one of these tools succeeds. If the list is empty, the agent answers as in a chat. */
  readonly until: readonly string[];
  readonly signal: AbortSignal;
  readonly onEvent: (event: TaskEvent) => void;
}

export interface TaskEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: events have many shapes.
  readonly data: any;
}

export interface TaskEnd {
  readonly response: string;
  readonly stop: { readonly reason: string };
  readonly runId: string | undefined;
  /** The gateway's error message for a run that did not complete. */
  readonly error?: string;
  readonly answer: unknown;
}

/** How long the gateway may be unreachable during the run. Another one can start in this time. */
const PATIENCE_MS = 60_000;
const WAIT_MS = 500;

/**
 * Gives an agent a task and follows it to its end. If the connection breaks, the same request is sent again with the
 * same idempotency key: the gateway does not run it twice, and events that were already seen are skipped.
 */
export async function runTask(api: Api, task: Task): Promise<TaskEnd> {
  const following = new Following(randomUUID());
  for (;;) {
    try {
      const end = await follow(api, task, following);
      if (end !== undefined) return end;
    } catch (error) {
      const isRefused = error instanceof CommandFailed && error.exitCode !== EXIT.notReached;
      // A connection that broke was open before: a gateway got the request, and may have died for another reason.
      if (hasBroken(error)) following.lastHeardAt = Date.now();
      if (task.signal.aborted || isRefused || Date.now() > following.lastHeardAt + PATIENCE_MS) throw error;
    }
    await sleep(WAIT_MS, undefined, { signal: task.signal });
  }
}

/** True if an open connection broke. False if no connection could be made. */
function hasBroken(error: unknown): boolean {
  const { cause } = ((error as Error).cause ?? {}) as { cause?: { code?: string } };
  return cause?.code === 'ECONNRESET' || cause?.code === 'UND_ERR_SOCKET';
}

/** The state that is kept between attempts. */
class Following {
  readonly key: string;
  lastId = 0;
  /** 0 until the gateway has answered: there is no retry for a gateway that never answered. */
  lastHeardAt = 0;

  constructor(key: string) {
    this.key = key;
  }
}

async function follow(api: Api, task: Task, following: Following): Promise<TaskEnd | undefined> {
  const { agent, message, until, signal } = task;
  const terminating = until.length === 0 ? {} : { terminating_config: { tool_ids: until } };
  const headers = { accept: 'text/event-stream', 'idempotency-key': following.key };
  const response = await api.request('POST', '/chat', { body: { agent, message, ...terminating }, headers, signal });
  following.lastHeardAt = Date.now();
  const events = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { id, event: type = 'message', data } of events) {
    if (type === 'done' || type === 'error') return endOf(type, JSON.parse(data));
    following.lastHeardAt = Date.now();
    const seq = Number(id ?? 0);
    if (id !== undefined && seq <= following.lastId) continue;
    following.lastId = Math.max(seq, following.lastId);
    task.onEvent({ type, data: JSON.parse(data) });
  }
  return undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
function endOf(type: 'done' | 'error', answer: any): TaskEnd {
  if (type === 'done') return { response: answer.response, stop: answer.stop, runId: answer.run_id, answer };
  const { message, details = {} } = answer.error;
  return {
    response: '',
    stop: details.stop ?? { reason: 'error', error: message },
    runId: details.run_id,
    error: message,
    answer,
  };
}
