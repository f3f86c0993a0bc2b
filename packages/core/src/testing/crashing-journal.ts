import { LastcallError } from '../errors.ts';
import type { Entry } from '../transcript/entry.ts';
import type { Journal } from '../transcript/journal.ts';
import { type MemoryJournal, memoryJournal } from './memory-journal.ts';

/** For a test, the process ended here. */
export class ProcessKilled extends LastcallError {
  override readonly name: string = 'ProcessKilled';

  constructor(where: string) {
    super('process_killed', `The test killed the process ${where}.`);
  }
}

export interface CrashingJournal extends Journal {
  /** The requested writes, including the fatal one, each in a few words. */
  readonly writes: readonly string[];
  /** The journal that another process finds and continues. */
  readonly kept: MemoryJournal;
}

/**
 * A journal that fails at write number `at`, counted from 1, and refuses everything after it. With `when: 'after'` the
 * fatal write is kept, but its writer gets no confirmation.
 */
export function crashingJournal(at: number, { when = 'before' }: { when?: 'before' | 'after' } = {}): CrashingJournal {
  const kept = memoryJournal();
  return { ...crashOn(kept, at, when), kept };
}

/** The same in front of any journal. */
export function crashOn(kept: Journal, at: number, when: 'before' | 'after'): Journal & { writes: readonly string[] } {
  const writes: string[] = [];
  const write = async (entries: readonly Entry[], keep: () => void | Promise<void>): Promise<void> => {
    const number = writes.push(entries.map(describe).join(', '));
    if (number < at || (number === at && when === 'after')) await keep();
    if (number >= at) throw new ProcessKilled(`${when} write ${at} to the journal`);
  };
  return {
    append: (entries) => write(entries, () => kept.append(entries)),
    settle: (entry, staged) => write([entry], () => kept.settle(entry, staged)),
    writes,
  };
}

function describe(entry: Entry): string {
  return 'settlement' in entry ? `${entry.kind} ${entry.settlement.toolName}` : entry.kind;
}
