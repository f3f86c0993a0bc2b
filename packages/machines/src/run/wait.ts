import type { Journal, Settlement } from '@lastcall/core';
import { toPlainOrNull } from '../charter/plain.ts';
import { chainOf, findInstance, type Instance, type Wait } from '../tree/tree.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import type { LiveMachine } from './live-machine.ts';
import { reasonOf } from './transition-tool.ts';

type End = Parameters<Journal['settle']>[0];

/** The tree events that follow from the end or the wait of a call. `by` is the instance that acts. */
export function waitsAfter(machine: LiveMachine, by: string, entry: End): readonly TreeEvent[] {
  const { callId } = entry.settlement;
  const owner = ownerOf(machine, by, callId);
  if (entry.kind === 'pending') return [{ kind: 'waiting', id: owner ?? by, wait: waitOf(entry.settlement) }];
  return owner === undefined ? [] : [{ kind: 'settled', id: owner, callId }];
}

/**
 * Finds the instance that waits for a call. Non-workers share a conversation, so a call may expire while another
 * instance speaks.
 */
function ownerOf({ tree }: LiveMachine, by: string, callId: string): string | undefined {
  const waitsFor = ({ waits }: Instance): boolean => waits.some((wait) => wait.callId === callId);
  const acting = findInstance(tree, by);
  if (acting === undefined || waitsFor(acting)) return acting?.id;
  return acting.worker ? undefined : chainOf(tree, tree.speaker).find(waitsFor)?.id;
}

/** The wait of a call, as the tree stores it. */
export function waitOf({ callId, toolName, input, outcome }: Settlement): Wait {
  const { kind, display, expiresAt } = outcome as Extract<typeof outcome, { status: 'pending' }>;
  const wait = { callId, toolName, kind, input: toPlainOrNull(input), reason: reasonOf(display) };
  return expiresAt === undefined ? wait : { ...wait, expiresAt };
}
