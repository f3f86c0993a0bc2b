import { readdirSync, readFileSync } from 'node:fs';

/**
 * Milliseconds of processor time that a process and everything below it took since they started, including children
 * that have ended. `NaN` where there is no /proc.
 */
export function processorMsOf(root: number): number {
  const all = processes();
  if (all.length === 0) return Number.NaN;
  const tree = new Set([root]);
  // A child may be listed before its parent: repeat until no process is added.
  for (let size = 0; size !== tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  return all.filter(({ pid }) => tree.has(pid)).reduce((sum, { ticks }) => sum + ticks, 0) * MS_PER_TICK;
}

/** The PostgreSQL server that this process started. */
export function postgresPid(): number {
  const server = processes().find(({ parent, name }) => parent === process.pid && name === 'postgres');
  if (server === undefined) throw new Error('No PostgreSQL server runs as a child of this process.');
  return server.pid;
}

/** Milliseconds of processor time that all programs of this machine took since it started. `NaN` where there is no /proc. */
export function busyMs(): number {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    // cpu, user, nice, system, idle, iowait, irq, softirq, steal
    const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/ +/).map(Number);
    return (user + nice + system + irq + softirq) * MS_PER_TICK;
  } catch {
    return Number.NaN;
  }
}

/** Linux counts a hundred ticks a second in /proc, whatever its timer does. */
const MS_PER_TICK = 10;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** Its own ticks, and those of its ended children. */
  readonly ticks: number;
}

function processes(): readonly Process[] {
  return folders().flatMap((folder) => {
    try {
      return [toProcess(readFileSync(`/proc/${folder}/stat`, 'utf8'))];
    } catch {
      // The process ended after it was listed. Its time is counted in its parent.
      return [];
    }
  });
}

function folders(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function toProcess(stat: string): Process {
  // The name is in parentheses and may hold blanks and parentheses itself.
  const [open, close] = [stat.indexOf('('), stat.lastIndexOf(')')];
  const [, parent = '', ...rest] = stat.slice(close + 2).split(' ');
  // After the parent: group, session, terminal, its group, flags, four counts of faults, then utime, stime, cutime, cstime.
  const ticks = rest.slice(9, 13).reduce((sum, each) => sum + Number(each), 0);
  return { pid: Number(stat.slice(0, open)), parent: Number(parent), name: stat.slice(open + 1, close), ticks };
}
