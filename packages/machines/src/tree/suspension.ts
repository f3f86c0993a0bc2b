import type { Answer, PendingCall } from '@lastcall/core';
import { isPlainObject, type Plain, toPlain } from '../charter/plain.ts';
import { MachineError } from '../errors.ts';
import type { LeafIndex } from './leaf-index.ts';
import { findInstance, inTreeOrder, type Tree } from './tree.ts';

/** A call that waits for `machine.resume(id, payload)`. */
export interface Suspension {
  readonly id: string;
  readonly instanceId: string;
  readonly node: string;
  readonly callId: string;
  readonly toolName: string;
  /**
   * The meaning of the payload: the call's result, the input that its tool asked for, or the permission to run it
   * (`true`, `{ approve: true, input? }`, `{ deny: reason }`).
   */
  readonly kind: PendingCall['kind'];
  readonly input: Plain;
  /** The reason that `suspend(reason)` or the tool gave; null if it gave none. */
  readonly reason: Plain;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** The calls that wait without an answer, in tree order. */
export function listSuspensions(tree: Tree, { waiting }: LeafIndex): readonly Suspension[] {
  return [...waiting].sort(inTreeOrder).flatMap((instanceId) => suspensionsOf(tree, instanceId));
}

/**
 * Finds the call that waits under an id. The id leads to it directly, because thousands may wait and be answered one by
 * one.
 */
export function findSuspension(tree: Tree, index: LeafIndex, id: unknown): Suspension | undefined {
  if (typeof id !== 'string') return undefined;
  const [instanceId = ''] = id.split(':', 1);
  const named = suspensionsOf(tree, instanceId).find((one) => one.id === id);
  // The id of the call alone is accepted too.
  return named ?? listSuspensions(tree, index).find(({ callId }) => callId === id);
}

function suspensionsOf(tree: Tree, instanceId: string): readonly Suspension[] {
  const { node, waits } = findInstance(tree, instanceId) ?? { node: '', waits: [] };
  return waits
    .filter(({ answer }) => answer === undefined)
    .map((wait): Suspension => ({ ...wait, id: `${instanceId}:${wait.callId}`, instanceId, node }));
}

/** The payload in core's form. Plain, because it may be stored with the machine. */
export function toAnswer({ id, kind }: Suspension, payload: unknown): Answer {
  const plain = payload === undefined ? null : toPlain(payload, 'payload');
  if (kind !== 'approval') return { result: plain };
  if (plain === true) return { approve: true };
  if (isPlainObject(plain) && plain.approve === true)
    return 'input' in plain ? { approve: true, input: plain.input } : { approve: true };
  if (isPlainObject(plain) && typeof plain.deny === 'string') return { deny: plain.deny };
  throw new MachineError(
    'machine',
    `"${id}" waits to be allowed: resume it with true, { approve: true, input? } or { deny: reason }.`,
  );
}
