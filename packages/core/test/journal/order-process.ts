// A program: runs the order desk on a journal, from what is stored, and kills itself at a write.
// Arguments: the folder, the number of the write, "before" or "after".
import type { Journal } from '@lastcall/core';
import { runOrder } from './order-run.ts';

const [folder = '', at = '0', when = 'before'] = process.argv.slice(2);

process.stdout.write(JSON.stringify(await runOrder(folder, killing)));

function killing(journal: Journal): Journal {
  let writes = 0;
  const write = async (keep: () => void | Promise<void>): Promise<void> => {
    const isLast = ++writes === Number(at);
    if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL');
    await keep();
    if (isLast) process.kill(process.pid, 'SIGKILL');
  };
  return {
    append: (entries) => write(() => journal.append(entries)),
    settle: (entry, staged) => write(() => journal.settle(entry, staged)),
  };
}
