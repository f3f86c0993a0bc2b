import { atMost } from '../at-most.ts';
import { callFailure } from './call-failure.ts';
import { ListPace } from './list-pace.ts';
import type { McpClient } from './open-client.ts';
import { ToolList, type ToolListOptions } from './tool-list.ts';

export interface ListReaderOptions extends ToolListOptions {
  /** True if the server cannot report that its list has changed. */
  readonly isPolled: boolean;
  /** True while calls run. They find out for themselves whether the server is there. */
  isCalling(): boolean;
}

interface SettledOptions {
  isUp(): boolean;
  /** How long to wait. There is a limit of 10 s in any case. */
  readonly withinMs?: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** How long a run or the end of a call waits for a changed list, so that the next step has it. */
const LIST_PATIENCE_MS = 10_000;
/** After this many lists in a row that do not arrive, the server counts as hanging. */
const MOST_LATE_LISTS = 3;

/** Reads the list of a server's tools when it is due. */
export class ListReader {
  readonly list: ToolList;
  readonly pace: ListPace;
  readonly #options: ListReaderOptions;
  /** Resolves when the list is read. Undefined if it is not being read. */
  #reading: Promise<void> | undefined;
  #lateLists = 0;

  constructor(options: ListReaderOptions) {
    this.#options = options;
    this.list = new ToolList(options);
    this.pace = new ListPace({ isPolled: options.isPolled });
  }

  /**
   * Throws if the server cannot be reached. If the list cannot be read, the last good one stays, and it is read again
   * soon.
   */
  async read(client: McpClient): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reading = promise;
    const end = this.pace.begin();
    try {
      end(await this.list.take(await this.#listTools(client)));
    } catch (error) {
      end('failed');
      if (error instanceof ServerGone || !this.list.isKnown) throw error;
      const { name, logger, secrets } = this.#options;
      const problem = secrets.removeFrom(callFailure(error).message);
      logger.warn(`The tools of the MCP server "${name}" cannot be listed: the last list stays in use.`, { problem });
    } finally {
      this.#reading = undefined;
      resolve();
    }
  }

  /** Waits for a list that is being read or should be read at once, while the server is up. */
  async settled({ isUp, withinMs = LIST_PATIENCE_MS, signal }: SettledOptions): Promise<void> {
    const end = performance.now() + Math.min(withinMs, LIST_PATIENCE_MS);
    const isAwaited = (): boolean => isUp() && (this.#reading !== undefined || this.pace.waitMs === 0);
    while (isAwaited() && signal?.aborted !== true && performance.now() < end)
      if (this.#reading === undefined) await new Promise(setImmediate);
      else await atMost(end - performance.now(), this.#reading, signal);
  }

  async #listTools(client: McpClient): ReturnType<McpClient['list']> {
    try {
      const listed = await client.list();
      this.#lateLists = 0;
      return listed;
    } catch (error) {
      const isLate = (error as { code?: unknown }).code === 'REQUEST_TIMEOUT';
      this.#lateLists = isLate ? this.#lateLists + 1 : 0;
      const { kind } = callFailure(error);
      const isAnswer = kind === 'answered' || kind === 'malformed' || (isLate && this.#lateLists < MOST_LATE_LISTS);
      if (isAnswer || this.#options.isCalling()) throw error;
      throw new ServerGone(callFailure(error).message, { cause: error });
    }
  }
}

/** The server cannot be reached any more. */
class ServerGone extends Error {}
