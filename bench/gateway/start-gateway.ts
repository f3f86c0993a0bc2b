import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { ChildAnswer, ChildReady, ChildRequest, GatewaySpec } from './gateway-child.ts';

/** A gateway in a separate process. */
export interface BenchGateway {
  readonly url: string;
  readonly secretKey: string;
  /** From the start of the process until it listens and wakes agents. */
  readonly startMs: number;
  /** Resident memory in bytes, after a collection. */
  memory(): Promise<number>;
  /** The same without a collection, which would pause the gateway. */
  rss(): Promise<number>;
  /** When its tool ran since the last request, in milliseconds of that process's clock. */
  ranAt(): Promise<readonly number[]>;
  /** Milliseconds of processor time that its process took since it started. */
  processorMs(): Promise<number>;
  /** Ends the active work. Resolves with the total processor time of its process. */
  stop(): Promise<number>;
}

const SECRET_KEY = 'sk_bench_0123456789abcdef';

export async function startGateway(
  spec: Omit<GatewaySpec, 'secretKey'>,
  { nodeFlags = [] }: { nodeFlags?: readonly string[] } = {},
): Promise<BenchGateway> {
  const startedAt = performance.now();
  const given: GatewaySpec = { ...spec, secretKey: SECRET_KEY };
  const child = fork(new URL('gateway-child.ts', import.meta.url), [JSON.stringify(given)], {
    execArgv: ['--conditions=@lastcall/source', '--expose-gc', ...nodeFlags],
  });
  const ready = await Promise.race([once(child, 'message'), failure(child)]);
  const startMs = performance.now() - startedAt;
  const ask = asker(child);
  let stopped: Promise<number> | undefined;
  const stop = async (): Promise<number> => {
    const ended = once(child, 'exit');
    const processorMs = (await ask('stop')) as number;
    await ended;
    return processorMs;
  };
  return {
    url: (ready[0] as ChildReady).url,
    secretKey: SECRET_KEY,
    startMs,
    memory: async () => (await ask('memory')) as number,
    rss: async () => (await ask('rss')) as number,
    ranAt: async () => (await ask('ran-at')) as number[],
    processorMs: async () => (await ask('processor-ms')) as number,
    // A benchmark that fails after it has stopped its gateways may stop them again.
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

async function failure(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`The gateway's process ended with ${code} before it listened.`);
}

function asker(child: ChildProcess): (ask: ChildRequest['ask']) => Promise<unknown> {
  const waiting = new Map<number, (value: unknown) => void>();
  let last = 0;
  child.on('message', ({ id, value }: ChildAnswer) => {
    waiting.get(id)?.(value);
    waiting.delete(id);
  });
  return (ask) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const id = ++last;
    waiting.set(id, resolve);
    child.send({ id, ask } satisfies ChildRequest);
    return promise;
  };
}
