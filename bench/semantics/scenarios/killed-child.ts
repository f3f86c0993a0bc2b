// Runs the script of killed.ts in a process that may be killed: killed-child.ts <subject> <directory> hang|finish
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { endOf, shownOf } from '../scenario.ts';
import { NotSupported, type Script } from '../subject.ts';
import { loadSubject, type SubjectName } from '../subjects.ts';

export interface ChildReport {
  readonly said?: string;
  readonly notSupported?: string;
}

const [name, directory, how] = process.argv.slice(2) as [SubjectName, string, 'hang' | 'finish'];

const effect = (done: string): string => {
  appendFileSync(join(directory, 'effects.txt'), `${done}\n`);
  return `${done} done`;
};

const script: Script = {
  directory,
  model: ({ shown }) => {
    if (shown.before === undefined) return ['before'];
    return shown.pay === undefined ? ['pay'] : 'finished';
  },
  tools: {
    before: { execute: () => effect('before') },
    pay: {
      execute: () => {
        const done = effect('pay');
        return how === 'hang' ? new Promise(() => setInterval(() => {}, 1_000)) : done;
      },
    },
  },
};

const send = (report: ChildReport): void => void process.send?.(report, undefined, undefined, () => process.exit(0));
try {
  const observed = await (await loadSubject(name)).run(script);
  send({ said: `${shownOf(observed, 'pay')}; ${endOf(observed)}` });
} catch (error) {
  send(error instanceof NotSupported ? { notSupported: error.message } : { said: `it fails: ${String(error)}` });
}
