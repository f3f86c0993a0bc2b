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
/**
 * How often the task is sent until the gateway accepts it. With more attempts, a refusal such as a full inbox would be
 * shown late; with one, a connection that is cut at this moment would leave a run that no one follows.
 */
const FIRST_ATTEMPTS = 3;

/** Gives an agent a task and follows it to its end, even if connections break or the gateway restarts. */
export async function runTask(api: Api, task: Task): Promise<TaskEnd> {
  // Fails at once if no gateway answers now.
  await api.ask((client) => client.status.health());
  const client = api.clientWith({ attempts: FIRST_ATTEMPTS, backoff: { firstMs: 500, maxMs: 1_000 } });
  return await api.ask(() => follow(client, task).catch(endOfFailedRun));
}

async function follow({ chat }: Client, { agent, message, until, signal, onEvent }: Task): Promise<TaskEnd> {
  const terminating = until.length === 0 ? {} : { terminating_config: { tool_ids: until } };
  const patience = new Patience();
  let wasAccepted = false;
  const events = chat.stream(
    { agent, message, ...terminating },
    {
      signal: AbortSignal.any([signal, patience.signal]),
      onConnection: (state) => {
        wasAccepted ||= state === 'live';
        patience.note(state === 'waiting');
      },
    },
  );
  for await (const event of events) {
    if (event.type === 'done') return endOfRun(event);
    onEvent(event);
  }
  signal.throwIfAborted();
  throw new CommandFailed(wasAccepted ? LOST : NOT_ACCEPTED, { exitCode: EXIT.notReached });
}

const LOST = 'The gateway has not answered for a minute. The run may go on without this command.';
const NOT_ACCEPTED = 'The gateway has not accepted the task within a minute. Try again later.';

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
  readonly #aborting = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  note(isLost: boolean): void {
    if (isLost) this.#timer ??= setTimeout(() => this.#aborting.abort(), PATIENCE_MS).unref();
    else {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
  }
}
