import { main } from '../../src/main.ts';
import type { Ended, ProgramOptions } from './program.ts';

/**
 * Runs a command to its end in this process, one at a time: a separate process takes a quarter of a second of processor time, most
 * of it to start. Tests that start a process check that commands end it with their exit code and all of their output.
 */
export async function inProcess(
  args: readonly string[],
  { folder, env = {} }: Pick<ProgramOptions, 'folder' | 'env'>,
): Promise<Pick<Ended, 'code' | 'out' | 'err'>> {
  const before = { cwd: process.cwd(), env: { ...process.env }, exitCode: process.exitCode };
  const { PATH = '', HOME = '' } = process.env;
  using out = listen(process.stdout);
  using err = listen(process.stderr);
  process.chdir(folder);
  // As in a separate process, no other variables configure the command, and those that it loads from a file .env are gone afterwards.
  setVariables({ PATH, HOME, NO_COLOR: '1', ...env });
  process.exitCode = undefined;
  try {
    return { code: await main(args), out: out.heard(), err: err.heard() };
  } finally {
    process.chdir(before.cwd);
    setVariables(before.env);
    process.exitCode = before.exitCode;
  }
}

/** Changes the object itself, because Node loads a file .env into it. */
function setVariables(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, variables);
}

interface Listener extends Disposable {
  heard(): string;
}

/** Collects what is written to the stream, instead of printing it. */
function listen(stream: NodeJS.WriteStream): Listener {
  const { write } = stream;
  const parts: string[] = [];
  stream.write = (text: string | Uint8Array): boolean => {
    parts.push(typeof text === 'string' ? text : Buffer.from(text).toString());
    return true;
  };
  return {
    heard: () => parts.join(''),
    [Symbol.dispose]: () => {
      stream.write = write;
    },
  };
}
