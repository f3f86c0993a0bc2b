import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Answer, PendingCall } from '@lastcall/core';
import type { Plain, PlainObject } from '../charter/plain.ts';

/** The whole state of a machine except its conversations: one immutable value. `applyEvent` changes it. */
export interface Tree {
  readonly root: Instance;
  /** The state of each pack, shared by all nodes that use it. */
  readonly packs: { readonly [name: string]: PlainObject };
  /** Messages that have not been delivered to a leaf yet. */
  readonly queue: readonly QueuedMessage[];
  /** The deepest instance that is not a worker: it talks with the user whenever it is a leaf. */
  readonly speaker: string;
}

/** A node with state, in the tree. */
export interface Instance {
  /**
   * Its place of birth: `root`, `root.1`, `root.1.2`. The numbers are counted, so ids are the same in every run and
   * never reused.
   */
  readonly id: string;
  /** The name of its node in the charter. */
  readonly node: string;
  readonly state: PlainObject;
  /** It never talks with the user: its result goes to its parent. */
  readonly worker: boolean;
  readonly phase: Phase;
  /** Its calls that wait for an answer. */
  readonly waits: readonly Wait[];
  /** How many children it has had. */
  readonly born: number;
  /** The children, in the order they were spawned. */
  readonly children: readonly Instance[];
}

/**
 * The phase of an instance while it is a leaf: its model is asked, it waits for a message or an answer, or it is about
 * to be removed.
 */
export type Phase =
  | { readonly kind: 'ready' }
  | { readonly kind: 'idle' }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'ceded'; readonly content: Plain };

/** A call that waits for an answer. */
export interface Wait {
  readonly callId: string;
  readonly toolName: string;
  readonly kind: PendingCall['kind'];
  readonly input: Plain;
  /** The reason that `suspend(reason)` or the tool gave. */
  readonly reason: Plain;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** The answer, until the call has received it. */
  readonly answer?: Answer;
}

/** A message on its way to the primary. A silent one is delivered but not answered. */
export interface QueuedMessage {
  readonly message: LanguageModelV4Message;
  readonly silent: boolean;
}

export const ROOT = 'root';
export const READY: Phase = Object.freeze({ kind: 'ready' });

/** The instance with that id, if it exists. */
export function findInstance(tree: Tree, id: string): Instance | undefined {
  let at: Instance | undefined = tree.root;
  for (const step of stepsOf(id)) at = at === undefined ? undefined : childAt(at, step);
  return at?.id === id ? at : undefined;
}

/** From the instance up to the root, both included. Empty if there is no such instance. */
export function chainOf(tree: Tree, id: string): readonly Instance[] {
  const chain: Instance[] = [tree.root];
  for (const step of stepsOf(id)) {
    const child = childAt(chain[0] as Instance, step);
    if (child === undefined) return [];
    chain.unshift(child);
  }
  return chain[0]?.id === id ? chain : [];
}

export function parentId(id: string): string | undefined {
  const end = id.lastIndexOf('.');
  return end === -1 ? undefined : id.slice(0, end);
}

/** Compares ids in the order from the root down, each instance before its younger siblings. */
export function inTreeOrder(one: string, other: string): number {
  const [left, right] = [stepsOf(one), stepsOf(other)];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = (left[at] as number) - (right[at] as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** The tree with the instance replaced or removed. Copies only the path to it. */
export function withInstance(tree: Tree, id: string, change: (old: Instance) => Instance | undefined): Tree {
  const chain = chainOf(tree, id);
  let next = chain[0] === undefined ? undefined : change(chain[0]);
  for (let at = 1; at < chain.length; at++) {
    const parent = chain[at] as Instance;
    const index = indexOf(parent, stepOf((chain[at - 1] as Instance).id));
    const children = next === undefined ? parent.children.toSpliced(index, 1) : parent.children.with(index, next);
    next = Object.freeze({ ...parent, children });
  }
  return next === undefined ? tree : { ...tree, root: next };
}

/** The instance and all its descendants, parents first. For restoring and showing: steps never walk the tree. */
export function* walk(instance: Instance): Generator<Instance> {
  const ahead: Instance[] = [instance];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    yield next;
    for (let at = next.children.length - 1; at >= 0; at--) ahead.push(next.children[at] as Instance);
  }
}

function stepsOf(id: string): number[] {
  return id.split('.').slice(1).map(Number);
}

function stepOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('.') + 1));
}

function childAt(parent: Instance, step: number): Instance | undefined {
  return parent.children[indexOf(parent, step)];
}

/** A binary search, because a parent may have thousands of children; they are in the order of their numbers. */
function indexOf({ children }: Instance, step: number): number {
  let [low, high] = [0, children.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = stepOf((children[middle] as Instance).id);
    if (found === step) return middle;
    if (found < step) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
