import { Worker } from 'node:worker_threads';

/** Far more than any text takes here. A pattern that backtracks needs hours. */
const LIMIT_MS = 30_000;

/**
 * Calls a function with a module in another thread, and fails if it does not end: in this thread, a pattern that backtracks would hold the
 * test run until it is killed. The function is sent as text, so it uses only its parameters.
 */
export async function inWorker<M, I, O>(module: URL, run: (module: M, input: I) => O, input: I): Promise<O> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then((module) => parentPort.postMessage((${run})(module, workerData.input)));`;
  const worker = new Worker(code, { eval: true, workerData: { module: module.href, input } });
  const { promise, resolve, reject } = Promise.withResolvers<O>();
  worker.once('message', resolve).once('error', reject);
  const late = setTimeout(() => reject(new Error(`It did not end within ${LIMIT_MS / 1_000} seconds.`)), LIMIT_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}
