import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@lastcall/core';
import { backoffMs } from '@lastcall/core/internal';
import { type Runner, run, Logger as WorkerLogger } from 'graphile-worker';
import type { Pool, PoolClient } from 'pg';
import { createPool } from '../store/postgres-pool.ts';
import { SCHEMA, TASK, type WakePayload } from './wake-jobs.ts';

/** The queue's workers. They keep running until they are stopped, whatever happens to the database. */
export interface Workers {
  /** Does not wait for running jobs. */
  stop(): Promise<void>;
}

export interface WorkersOptions {
  readonly url: string;
  readonly concurrency: number;
  readonly logger: Logger | undefined;
  readonly perform: (payload: WakePayload, stopping: AbortSignal) => Promise<void>;
}

export async function runWorkers(options: WorkersOptions): Promise<Workers> {
  const stopping = new AbortController();
  let running = await launch(options, stopping.signal);
  const supervised = supervise();

  /** A worker ends by itself when it cannot mark a job as done. New workers replace the old ones. */
  async function supervise(): Promise<void> {
    for (;;) {
      await Promise.race([running.runner.promise.catch(() => {}), running.broken]);
      if (stopping.signal.aborted) {
        await running.runner.promise.catch(() => {});
        return await close(running.pool);
      }
      running.runner.stop().catch(() => {});
      await close(running.pool);
      if (stopping.signal.aborted) return;
      options.logger?.warn('The queue workers stopped and are restarted.');
      const next = await relaunch(options, stopping.signal);
      if (next === undefined) return;
      running = next;
    }
  }

  return {
    async stop() {
      stopping.abort();
      // It rejects if the workers have ended by themselves.
      running.runner.stop().catch(() => {});
      await Promise.race([supervised, sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
}

interface Running {
  readonly runner: Runner;
  readonly pool: Pool;
  /**
   * Resolves when any connection broke, or when a worker ended and the others shut down. Other connections have probably
   * broken too: workers that used one may wait for ever, and the shutdown with them.
   */
  readonly broken: Promise<void>;
}

/** How long an unreachable database may delay a stop. */
const STOP_MS = 2_000;
const RETRY = { firstMs: 100, maxMs: 2_000 };

async function relaunch(options: WorkersOptions, stopping: AbortSignal): Promise<Running | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      await sleep(backoffMs(attempt, RETRY), undefined, { signal: stopping });
      return await launch(options, stopping);
    } catch (error) {
      if (stopping.aborted) return undefined;
      options.logger?.warn('The queue workers cannot be started yet.', error);
    }
  }
}

async function launch(options: WorkersOptions, stopping: AbortSignal): Promise<Running> {
  // One connection for each worker, and one that listens. With fewer, workers wait for each other after all connections
  // broke.
  const pool = createWorkerPool(options.url, options.concurrency + 1);
  const { promise: broken, resolve } = Promise.withResolvers<void>();
  // From the first connection on: one that breaks while the workers start would leave the start waiting for ever.
  pool.on('connect', (client) => client.on('error', () => resolve()));
  try {
    const starting = run({
      pgPool: pool,
      schema: SCHEMA,
      taskList: { [TASK]: (payload) => options.perform(payload as WakePayload, stopping) },
      parsedCronItems: [],
      concurrency: options.concurrency,
      noHandleSignals: true,
      // A notice wakes a worker at once. Polling is for delayed jobs, and for lost notices.
      pollInterval: 1_000,
      // With batching, nobody would handle the rejection of a job's completion, and a lost database would end the
      // process.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      logger: toWorkerLogger(options.logger),
    });
    // A start that was given up may still end: then its workers are stopped.
    void broken.then(() => starting.then((late) => late.stop())).catch(() => {});
    const brokeFirst = broken.then((): never => {
      throw new Error('A connection broke while the queue workers started.');
    });
    const runner = await Promise.race([starting, brokeFirst]);
    if (stopping.aborted) runner.stop().catch(() => {});
    runner.events.once('pool:listen:error', () => resolve());
    runner.events.once('pool:gracefulShutdown', () => resolve());
    return { runner, pool, broken };
  } catch (error) {
    await close(pool);
    throw error;
  }
}

export function createWorkerPool(url: string, connections: number): Pool {
  return failFast(createPool(url, connections));
}

/**
 * Hides the code of a failed connection: for some codes, such as that of a database that is starting, workers would
 * wait for seconds to minutes. Without a code they try again at their next poll.
 */
function failFast(pool: Pool): Pool {
  const connect = pool.connect.bind(pool);
  const connectQuietly = async (): Promise<PoolClient> => {
    try {
      return await connect();
    } catch (cause) {
      throw new Error(`No connection to the database: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  };
  pool.connect = ((callback?: Parameters<typeof connect>[0]) =>
    callback === undefined ? connectQuietly() : connect(callback)) as Pool['connect'];
  return pool;
}

/** Does not wait for a connection that hangs: it ends with the process. */
async function close(pool: Pool): Promise<void> {
  const closing = pool.end().catch(() => {});
  await Promise.race([closing, sleep(STOP_MS, undefined, { ref: false })]);
}

/** Logs only the queue's warnings and errors; its other messages are noise. */
export function toWorkerLogger(logger: Logger | undefined): WorkerLogger {
  return new WorkerLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') logger?.warn(`Queue: ${message}`);
  });
}
