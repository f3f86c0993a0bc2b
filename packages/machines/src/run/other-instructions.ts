import { findInstance } from '../tree/tree.ts';
import { leafInstructions } from './leaf-instructions.ts';
import { LiveMachine } from './live-machine.ts';
import type { Machine } from './machine.ts';

/** The instructions of an instance, with this text in place of its node's. The state and the packs follow it, as they follow a text. */
export function otherInstructions(machine: Machine, instanceId: string, text: string): string {
  const { charter, tree } = LiveMachine.of(machine);
  const instance = findInstance(tree, instanceId);
  return instance === undefined ? text : leafInstructions(charter, tree, instance, text);
}
