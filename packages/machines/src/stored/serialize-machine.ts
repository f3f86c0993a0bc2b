import { LiveMachine } from '../run/live-machine.ts';
import type { Machine } from '../run/machine.ts';
import { type MachineJson, toMachineJson } from '../tree/machine-json.ts';

/**
 * A whole machine as plain data: tree, states, conversations, waiting calls and queued messages. It may be called in
 * the middle of a step: calls that have settled stay settled, and the next run does the rest.
 */
export function serializeMachine(machine: Machine): MachineJson {
  const live = LiveMachine.of(machine);
  return toMachineJson(live, live.isRecorded ? 'keep' : 'refuse');
}
