import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Scenario, times } from '../scenario.ts';
import { NotSupported } from '../subject.ts';
import type { ChildReport } from './killed-child.ts';

export const killed: Scenario = {
  title: 'Killed inside a tool, and resumed',
  told:
    'A separate process runs `before`, then `pay`, which does its effect and hangs; there it is killed with SIGKILL. A ' +
    'second process continues from what the first wrote to a directory, each library with its own way of storing a run.',
  async observe(_subject, name) {
    const directory = await mkdtemp(join(tmpdir(), 'lastcall-killed-'));
    try {
      const first = start(name, directory, 'hang');
      const early = await Promise.race([report(first), untilPaid(first, directory)]);
      first.kill('SIGKILL');
      await exited(first);
      if (early?.notSupported !== undefined) throw new NotSupported(early.notSupported);
      const second = start(name, directory, 'finish');
      const resumed = await report(second);
      await exited(second);
      const done = readEffects(directory);
      const count = (effect: string): string => times(done.filter((one) => one === effect).length);
      return `\`before\` runs ${count('before')}, \`pay\` ${count('pay')}; ${resumed?.said ?? 'the second process ends without a word'}`;
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

function start(name: string, directory: string, how: 'hang' | 'finish'): ChildProcess {
  return fork(new URL('./killed-child.ts', import.meta.url), [name, directory, how], { execArgv: process.execArgv });
}

async function report(child: ChildProcess): Promise<ChildReport | undefined> {
  const exit = once(child, 'exit').then(() => undefined);
  return await Promise.race([once(child, 'message').then(([message]) => message as ChildReport), exit]);
}

async function untilPaid(child: ChildProcess, directory: string): Promise<undefined> {
  while (child.exitCode === null && !readEffects(directory).includes('pay'))
    await new Promise((resolve) => setTimeout(resolve, 20));
}

function readEffects(directory: string): string[] {
  const file = join(directory, 'effects.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
