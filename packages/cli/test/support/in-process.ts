import { main } from '../../src/main.ts';
import type { Ended, ProgramOptions } from './program.ts';

/**
 * Runs a command to its end in this process, one at a time: a process of its own takes a quarter of a second of processor time, most
 * of it to start. That commands end their process, with their code and all that they printed, is for tests that start one.
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
  // As in a process of its own, nothing else configures the command, and what it loads from a file .env is gone with it.
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

/** Not another object in its place: Node loads a file .env into this one. */
function setVariables(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, variables);
}

interface Listener extends Disposable {
  heard(): string;
}

/** Hears what is written to the stream, in place of the terminal. */
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
