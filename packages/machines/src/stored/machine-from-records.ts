import type { JournalRecord } from '@lastcall/core';
import { recordsProblem } from '@lastcall/core/internal';
import { type Charter, CompiledCharter } from '../charter/charter.ts';
import { StoredMachineError } from '../errors.ts';
import type { Machine } from '../run/machine.ts';
import type { MachineJson } from '../tree/machine-json.ts';
import { type RestoreOptions, readJson, restoreMachine } from './deserialize-machine.ts';
import { ReplayedMachine } from './replay-records.ts';
import { held } from './stored-fields.ts';

export interface RecordsOptions extends RestoreOptions {
  /** The machine before the first record, from `serializeMachine`. Default: the first record has it. */
  from?: MachineJson | string;
}

/**
 * Restores a machine from the records of its journal: in the state after the last of them, also if the process ended in
 * the middle of a step. The next run with the journal continues the records. Throws a StoredMachineError that names the
 * path, as `deserializeMachine` does.
 */
export function machineFromRecords(
  charter: Charter,
  records: Iterable<JournalRecord>,
  { from, ...options }: RecordsOptions = {},
): Machine {
  const compiled = CompiledCharter.of(charter);
  return held('records', () => {
    const replayed = new ReplayedMachine();
    if (from !== undefined) replayed.begin(readJson(from));
    let index = 0;
    const problem = recordsProblem(records);
    if (problem !== undefined) throw new StoredMachineError('records', problem);
    for (const record of records) {
      const path = `records[${index++}]`;
      held(path, () => replayed.follow(record, path));
    }
    const { machine, isMigrated } = restoreMachine(compiled, replayed.toJson(), options, replayed);
    // The records do not have the repaired tree: the next write stores the whole machine.
    if (isMigrated) machine.isRecorded = false;
    return machine;
  });
}
