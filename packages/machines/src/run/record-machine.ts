import { type Journal, OptionsError } from '@lastcall/core';
import { LiveMachine } from './live-machine.ts';
import type { Machine } from './machine.ts';
import { assertCertain, Recorder } from './recorder.ts';

/**
 * Writes what `enqueue`, `resume` and `command` changed since the last write to the journal, for a host that confirms
 * it before the next run, which would write it too. A machine that has no records yet is written whole. Rejects with the
 * journal's error if it refuses.
 */
export async function recordMachine(machine: Machine, journal: Journal): Promise<void> {
  const live = LiveMachine.of(machine);
  if (typeof journal?.append !== 'function' || typeof journal.settle !== 'function')
    throw new OptionsError('journal', 'must have append() and settle().');
  assertCertain(live);
  await (live.recorder ?? new Recorder(live, journal, {})).flush();
}
