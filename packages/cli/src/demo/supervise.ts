import { type ChildProcess, spawn } from 'node:child_process';

/** This variable is set only in the process that runs the demo's gateway. */
const SUPERVISED = 'LASTCALL_DEMO_SUPERVISED';
/** Half of the default: a person who crashed the gateway waits at most this long until another worker continues. */
const LEASE_MS = '5000';

interface CrashWish {
  readonly crash: { readonly port: string };
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The port it listened on, if it asked to be killed. */
  readonly crashedPort: string | undefined;
}

/**
 * Runs the demo's gateway in a child process. When the child asks for it, this process kills it with SIGKILL and starts
 * it again on the same port. If the child ends in any other way, this process ends with the same code or signal.
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
    // Written to standard error, so that standard output keeps one JSON object per line.
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

/**
 * Returns a function that asks the supervisor to kill this process. What still runs after that is undefined. Returns
 * undefined in a process that is not supervised.
 */
export function crashBySupervisor(): ((url: string) => void) | undefined {
  if (process.send === undefined || process.env[SUPERVISED] === undefined) return undefined;
  delete process.env[SUPERVISED];
  // If the supervisor is killed, this process must end too.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Ctrl+C reaches both processes. Only the supervisor passes it on: a second signal would interrupt the shutdown.
  process.on('SIGINT', () => {});
  return (url) => void process.send?.({ crash: { port: new URL(url).port || '80' } } satisfies CrashWish);
}
