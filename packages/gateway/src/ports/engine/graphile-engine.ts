import type { Logger } from '@lastcall/core';
import { runMigrations } from 'graphile-worker';
import { deliverWake } from './deliver-wake.ts';
import type { Engine, Wake } from './engine.ts';
import { createWorkerPool, runWorkers, toWorkerLogger, type Workers } from './graphile-workers.ts';
import { addWakeJob, SCHEMA, type WakePayload } from './wake-jobs.ts';

export interface GraphileOptions {
  readonly url: string;
  /** How many wakes are delivered at once. Each takes a few milliseconds. Default 10. */
  readonly concurrency?: number;
  readonly logger?: Logger;
}

/**
 * The engine of gateways that share a PostgreSQL database: wakes are jobs in it, written by the transaction that causes
 * them.
 */
export async function createGraphileEngine({ url, concurrency = 10, logger }: GraphileOptions): Promise<Engine> {
  await prepare(url, logger);
  let workers: Workers | undefined;
  let localWake: Wake | undefined;
  return {
    async enqueue(tx, threadId, at) {
      addWakeJob(tx, threadId, at);
      // An urgent wake does not wait for the queue. The job is for the case that this gateway dies or has no free slot.
      if (at === 'urgent')
        tx.afterCommit(() => {
          if (localWake !== undefined) void deliverWake(localWake, { threadId, isUrgent: true }, logger);
        });
    },
    async start(wake) {
      localWake = wake;
      workers = await runWorkers({
        url,
        concurrency,
        logger,
        perform: (payload, stopping) => perform(wake, payload, stopping, logger),
      });
    },
    async stop() {
      localWake = undefined;
      await workers?.stop();
      workers = undefined;
    },
  };
}

/** Creates the queue's tables. Jobs can be added after that. */
async function prepare(url: string, logger: Logger | undefined): Promise<void> {
  const pool = createWorkerPool(url, 1);
  try {
    await runMigrations({ pgPool: pool, schema: SCHEMA, logger: toWorkerLogger(logger) });
  } finally {
    await pool.end();
  }
}

/**
 * A wake takes milliseconds. After this time its job ends, so that a slow one does not block others; the wake itself
 * continues.
 */
const MAX_JOB_MS = 1_000;

/**
 * Rejects if the worker stops first: it is then unknown whether the thread was claimed, and the job stays for another
 * worker.
 */
async function perform(
  wake: Wake,
  { threadId, first = false }: WakePayload,
  stopping: AbortSignal,
  logger: Logger | undefined,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, MAX_JOB_MS);
  const onStop = (): void => reject(new Error('The gateway stops.'));
  stopping.addEventListener('abort', onStop);
  void deliverWake(wake, { threadId, isUrgent: first }, logger).then(resolve);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', onStop);
  }
}
