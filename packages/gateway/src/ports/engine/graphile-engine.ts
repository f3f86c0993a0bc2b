import type { Logger } from '@lastcall/core';
import { runMigrations } from 'graphile-worker';
import { deliverWake } from './deliver-wake.ts';
import type { Engine, Wake } from './engine.ts';
import { createWorkerPool, runWorkers, toWorkerLogger, type Workers } from './graphile-workers.ts';
import { addWakeJob, SCHEMA, type WakePayload } from './wake-jobs.ts';

export interface GraphileOptions {
  readonly url: string;
  /** Wakes under way at once: one takes a few milliseconds. Default 10. */
  readonly concurrency?: number;
  readonly logger?: Logger;
}

/** For gateways that share a PostgreSQL database: wakes are jobs in it, written by the transaction that is the reason to wake. */
export async function createGraphileEngine({ url, concurrency = 10, logger }: GraphileOptions): Promise<Engine> {
  await prepare(url, logger);
  let workers: Workers | undefined;
  let own: Wake | undefined;
  return {
    async enqueue(tx, threadId, at) {
      addWakeJob(tx, threadId, at);
      // Whoever is waited for need not go by way of the queue: the job is for when this gateway dies, or has no place.
      if (at === 'first')
        tx.afterCommit(() => {
          if (own !== undefined) void deliverWake(own, { threadId, isUrgent: true }, logger);
        });
    },
    async start(wake) {
      own = wake;
      workers = await runWorkers({
        url,
        concurrency,
        logger,
        perform: (payload, stopping) => perform(wake, payload, stopping, logger),
      });
    },
    async stop() {
      own = undefined;
      await workers?.stop();
      workers = undefined;
    },
  };
}

/** Jobs can be added from here on. */
async function prepare(url: string, logger: Logger | undefined): Promise<void> {
  const pool = createWorkerPool(url, 1);
  try {
    await runMigrations({ pgPool: pool, schema: SCHEMA, logger: toWorkerLogger(logger) });
  } finally {
    await pool.end();
  }
}

/** A wake takes milliseconds. One that takes longer goes on, but keeps no place that others need. */
const PATIENCE_MS = 1_000;

/** Rejects if the worker stops meanwhile: whether the thread was taken is not known, and the job stays for another. */
async function perform(
  wake: Wake,
  { threadId, first = false }: WakePayload,
  stopping: AbortSignal,
  logger: Logger | undefined,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, PATIENCE_MS);
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
