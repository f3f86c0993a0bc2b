import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Calls into a child process, one promise each. */
export interface RemoteProcess {
  call<T>(name: string, ...given: readonly unknown[]): Promise<T>;
  /** Lets the process end and waits until it has exited. */
  end(): Promise<void>;
}

interface Call {
  readonly id: number;
  readonly name: string;
  readonly given: readonly unknown[];
}

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** Starts a file that serves calls. It prints only errors. */
export function startProcess(file: URL, args: readonly string[]): RemoteProcess {
  const child = fork(file, [...args], {
    execArgv: ['--conditions=@lastcall/source', '--disable-warning=DeprecationWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', ({ id, value, error }: Reply) => {
    if (error === undefined) waiting.get(id)?.resolve(value);
    else waiting.get(id)?.reject(new Error(error));
    waiting.delete(id);
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file.pathname} ended with ${code}.`));
  });
  return { call: caller(child, waiting), end: () => endOf(child) };
}

function caller(child: ChildProcess, waiting: Map<number, PromiseWithResolvers<unknown>>): RemoteProcess['call'] {
  let last = 0;
  return async <T>(name: string, ...given: readonly unknown[]): Promise<T> => {
    if (!child.connected) throw new Error(`The process has ended and takes no call of ${name}.`);
    const awaited = Promise.withResolvers<unknown>();
    const id = ++last;
    waiting.set(id, awaited);
    child.send({ id, name, given } satisfies Call);
    return (await awaited.promise) as T;
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  await ended;
}

type Handlers = Readonly<Record<string, (...given: never[]) => unknown>>;

/** In the child: answers calls until the parent process is gone. */
export function serveCalls(handlers: Handlers): void {
  process.once('disconnect', () => process.exit());
  process.on('message', ({ id, name, given }: Call) => {
    void Promise.resolve()
      .then(() => handlers[name]?.(...(given as never[])))
      .then((value) => process.send?.({ id, value } satisfies Reply))
      .catch((error: unknown) => process.send?.({ id, error: textOf(error) } satisfies Reply));
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
