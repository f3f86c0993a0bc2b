import { type ChildProcess, spawn } from 'node:child_process';

/** Set in the process that runs the demo's gateway, and in nothing else. */
const SUPERVISED = 'LASTCALL_DEMO_SUPERVISED';
/** Half of the default: who crashed the gateway waits this long, at most, for another worker to go on. */
const LEASE_MS = '5000';

interface CrashWish {
  readonly crash: { readonly port: string };
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Where it listened, if it asked to be killed. */
  readonly crashedPort: string | undefined;
}

/**
 * Runs the demo's gateway in a process of its own. When that process asks for it, it is killed with SIGKILL and started again on the
 * same port. However else it ends, this process ends in the same way.
 */
export async function superviseDemo(flags: readonly string[]): Promise<void> {
  let child: ChildProcess | undefined;
  let stoppedBy: NodeJS.Signals | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      stoppedBy ??= signal;
      child?.kill('SIGTERM');
    });
  for (let port = process.env.PORT; ; ) {
    child = startGateway(flags, port);
    const { code, signal, crashedPort } = await endOf(child);
    if (crashedPort === undefined || stoppedBy !== undefined)
      return endLike({ code, signal: signal && (stoppedBy ?? signal) });
    // On standard error: what the gateway prints stays one JSON object per line.
    process.stderr.write(`Process ${child.pid} was killed with SIGKILL, as asked: starting the gateway again.\n`);
    port = crashedPort;
  }
}

function startGateway(flags: readonly string[], port: string | undefined): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', 'start', ...flags], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      LASTCALL_LEASE_MS: LEASE_MS,
      ...process.env,
      ...(port === undefined ? {} : { PORT: port }),
      [SUPERVISED]: '1',
    },
  });
}

async function endOf(child: ChildProcess): Promise<Ended> {
  let crashedPort: string | undefined;
  child.on('message', ({ crash }: CrashWish) => {
    crashedPort = crash.port;
    child.kill('SIGKILL');
  });
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  child.once('error', reject);
  child.once('exit', (code, signal) => resolve({ code, signal, crashedPort }));
  return await promise;
}

function endLike({ code, signal }: Pick<Ended, 'code' | 'signal'>): void {
  if (signal === null) process.exitCode = code ?? 0;
  else process.removeAllListeners(signal).kill(process.pid, signal);
}

/** Undefined in a process that is not supervised. The function asks to be killed: what comes after it is left to chance. */
export function crashBySupervisor(): ((url: string) => void) | undefined {
  if (process.send === undefined || process.env[SUPERVISED] === undefined) return undefined;
  delete process.env[SUPERVISED];
  // Whoever kills the process that they started means this one, too.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Ctrl+C reaches both processes: the supervisor alone passes it on, or the second of two signals would end the stop.
  process.on('SIGINT', () => {});
  return (url) => void process.send?.({ crash: { port: new URL(url).port || '80' } } satisfies CrashWish);
}
