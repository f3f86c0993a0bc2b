import { randomUUID } from 'node:crypto';
import { type ChatAnswer, type ChatEvent, type Client, ClientError } from '@lastcall/client';
import type { Api } from './api.ts';
import { CommandFailed, EXIT } from './exit-code.ts';

export interface Task {
  readonly agent: string;
  readonly message: string;
  /** The run goes on until one of these tools succeeds. If the list is empty, the agent answers as in a chat. */
  readonly until: readonly string[];
  readonly signal: AbortSignal;
  readonly onEvent: (event: ChatEvent) => void;
}

export interface TaskEnd {
  readonly response: string;
  readonly stop: { readonly reason: string };
  readonly runId: string | undefined;
  /** The gateway's error message for a run that did not complete. */
  readonly error?: string;
  /** As the gateway would have answered without a stream. */
  readonly answer: object;
}

/** How long the gateway may be unreachable during the run. Another one can start in this time. */
const PATIENCE_MS = 60_000;
/** How often a task is sent that the gateway refuses, e.g. because an inbox is full. A person should not wait long for the reason. */
const REFUSALS = 3;

/** Gives an agent a task and follows it to its end, even if connections break or the gateway restarts. */
export async function runTask(api: Api, task: Task): Promise<TaskEnd> {
  // Fails at once if no gateway answers now.
  await api.ask((client) => client.status.health());
  const client = api.clientWith({ attempts: REFUSALS, backoff: { firstMs: 500, maxMs: 1_000 } });
  return await api.ask(() => follow(client, task).catch(endOfFailedRun));
}

async function follow(client: Client, task: Task): Promise<TaskEnd> {
  const patience = new Patience();
  // One key for all attempts: the task runs once.
  const idempotencyKey = randomUUID();
  for (;;) {
    try {
      return await followOnce(client, task, { patience, idempotencyKey });
    } catch (failure) {
      // The gateway may have accepted the task and died before it could say so: then the next one has the run.
      if (!isUnanswered(failure)) throw failure;
    }
  }
}

async function followOnce(
  { chat }: Client,
  { agent, message, until, signal, onEvent }: Task,
  { patience, idempotencyKey }: { readonly patience: Patience; readonly idempotencyKey: string },
): Promise<TaskEnd> {
  const terminating = until.length === 0 ? {} : { terminating_config: { tool_ids: until } };
  const events = chat.stream(
    { agent, message, ...terminating },
    {
      idempotencyKey,
      signal: AbortSignal.any([signal, patience.signal]),
      onConnection: (state) => patience.note(state),
    },
  );
  for await (const event of events) {
    if (event.type === 'done') return endOfRun(event);
    onEvent(event);
  }
  signal.throwIfAborted();
  throw new CommandFailed(patience.wasLive ? LOST : UNCONFIRMED, { exitCode: EXIT.notReached });
}

const LOST = 'The gateway has not answered for a minute. The run may go on without this command.';
const UNCONFIRMED =
  'The gateway has not confirmed the task for a minute. If it accepted the task, the run goes on without this command.';

/** True if the connection failed, and no gateway or proxy answered. */
function isUnanswered(failure: unknown): boolean {
  return failure instanceof ClientError && failure.code === 'unreachable' && failure.status === undefined;
}

function endOfRun({ type: _, ...answer }: ChatAnswer & { readonly type: string }): TaskEnd {
  return { response: answer.response, stop: answer.stop, runId: answer.run_id, answer };
}

/** What the gateway tells of a run that did not complete. */
interface FailedRun {
  readonly stop?: TaskEnd['stop'];
  readonly run_id?: string;
  readonly generated_messages?: unknown;
}

/** How a run that did not complete ended. Any other failure is thrown. */
function endOfFailedRun(failure: unknown): TaskEnd {
  const { code, message, details } = failure instanceof ClientError ? failure : ({} as Partial<ClientError>);
  const { stop, run_id: runId, generated_messages } = (details ?? {}) as FailedRun;
  if (stop === undefined || message === undefined) throw failure;
  return {
    response: '',
    stop,
    runId,
    error: message,
    answer: { error: { code, message, details }, generated_messages },
  };
}

/** Aborts its signal once the connection has been lost for too long. */
class Patience {
  /** True if the gateway has accepted the task. */
  wasLive = false;
  readonly #aborting = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  note(state: 'connecting' | 'live' | 'waiting'): void {
    if (state === 'waiting') this.#timer ??= setTimeout(() => this.#aborting.abort(), PATIENCE_MS).unref();
    if (state !== 'live') return;
    this.wasLive = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
