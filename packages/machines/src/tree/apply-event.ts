import { type Plain, type PlainObject, toPlain } from '../charter/plain.ts';
import { mergeFields } from '../charter/state-schema.ts';
import { MachineError } from '../errors.ts';
import {
  chainOf,
  findInstance,
  type Instance,
  type Phase,
  parentId,
  READY,
  type Tree,
  type Wait,
  walk,
  withInstance,
} from './tree.ts';
import type { Seed, TreeEffect, TreeEvent } from './tree-event.ts';

export interface Applied {
  readonly tree: Tree;
  readonly effects: readonly TreeEffect[];
}

const IDLE: Phase = Object.freeze({ kind: 'idle' });
const PHASES: Readonly<Record<'ready' | 'idle' | 'suspended', Phase>> = {
  ready: READY,
  idle: IDLE,
  suspended: Object.freeze({ kind: 'suspended' }),
};

// A tree this deep means that a model spawns itself without end.
export const DEEPEST = 100;

/** The tree after an event, and the effects to run. Pure. Throws a MachineError if the event does not fit. */
export function applyEvent(tree: Tree, event: TreeEvent): Applied {
  switch (event.kind) {
    case 'patched':
      return only(patch(tree, event));
    case 'moved':
      return move(tree, event);
    case 'spawned':
      return spawn(tree, event);
    case 'ceded':
      return only(cede(tree, event));
    case 'removed':
      return remove(tree, event.id);
    case 'phased':
      return only(change(tree, event.id, { phase: PHASES[event.phase] }));
    case 'waiting':
      return only(wait(tree, event));
    case 'settled':
      return only(change(tree, event.id, { waits: without(known(tree, event.id), event.callId) }));
    case 'answered':
      return only(answer(tree, event));
    case 'queued':
      return only({ ...tree, queue: [...tree.queue, event.message] });
    case 'delivered':
      return only(deliver(tree, event));
  }
}

type Of<K extends TreeEvent['kind']> = Extract<TreeEvent, { kind: K }>;

function only(tree: Tree): Applied {
  return { tree, effects: [] };
}

function patch(tree: Tree, { target, set, unset }: Of<'patched'>): Tree {
  if (target.kind === 'instance') {
    const { state } = known(tree, target.id);
    return change(tree, target.id, { state: mergeFields(state, { set, unset }) });
  }
  const state = tree.packs[target.name] as PlainObject;
  return { ...tree, packs: { ...tree.packs, [target.name]: mergeFields(state, { set, unset }) } };
}

/** Keeps the id and the place, replaces node and state, and removes the children. */
function move(tree: Tree, { id, node, state, byCommand }: Of<'moved'>): Applied {
  const old = known(tree, id);
  // The waits belong to the old node and are cancelled, unless the move comes from a waiting call that was answered:
  // that call is about to end by itself.
  const waited = old.phase.kind === 'suspended' && byCommand === true;
  const rest = waited ? { waits: [], phase: old.worker ? READY : IDLE } : {};
  const moved = change(tree, id, { node, state, children: [], ...rest });
  const reason = `"${old.node}" (${id}) moved on to "${node}"`;
  const speaker = isWithin(tree.speaker, id) && !old.worker ? id : tree.speaker;
  const left = waited ? [old] : old.children;
  return { tree: { ...moved, speaker }, effects: left.flatMap((one) => cancelAll(one, reason)) };
}

function spawn(tree: Tree, { id, children: seeds }: Of<'spawned'>): Applied {
  const parent = known(tree, id);
  if (seeds.length === 0) throw new MachineError('transition', 'spawn() was given no node.');
  if (chainOf(tree, id).length >= DEEPEST)
    throw new MachineError('transition', `The tree would be more than ${DEEPEST} levels deep.`);
  const born = seeds.map((seed, index) => toInstance(seed, parent, index));
  const children = [...parent.children, ...born];
  const talking = children.filter(({ worker }) => !worker);
  if (talking.length > 1) throw secondPrimary(talking);
  const speaker = born.find(({ worker }) => !worker)?.id ?? tree.speaker;
  const phase = parent.phase.kind === 'idle' ? READY : parent.phase;
  const next = change(tree, id, { children, born: parent.born + born.length, phase });
  return only({ ...next, speaker });
}

function toInstance({ node, state, worker }: Seed, parent: Instance, index: number): Instance {
  return Object.freeze({
    id: `${parent.id}.${parent.born + index + 1}`,
    node,
    state,
    // The children of a worker are workers too.
    worker: worker || parent.worker,
    phase: READY,
    waits: [],
    born: 0,
    children: [],
  });
}

function secondPrimary(talking: readonly Instance[]): MachineError {
  const names = talking.map(({ node }) => `"${node}"`).join(' and ');
  return new MachineError(
    'transition',
    `${names} would both talk with the user, and only one instance may: the others must be workers. Nothing was spawned.`,
  );
}

function cede(tree: Tree, { id, content }: Of<'ceded'>): Tree {
  const { children } = known(tree, id);
  if (parentId(id) === undefined)
    throw new MachineError('transition', 'The root cannot cede: it has no parent to hand over to.');
  if (children.length > 0) throw new MachineError('transition', `"${id}" has children, and only a leaf can cede.`);
  return change(tree, id, { phase: Object.freeze({ kind: 'ceded', content }) });
}

/** Removes an instance that has ceded. Its parent receives its content and where it came from. */
function remove(tree: Tree, id: string): Applied {
  const gone = known(tree, id);
  const parent = parentId(id);
  if (parent === undefined || gone.phase.kind !== 'ceded')
    throw new MachineError('machine', `Instance "${id}" has not ceded.`);
  const next = withInstance(tree, id, () => undefined);
  const speaker = tree.speaker === id ? parent : tree.speaker;
  const effects: TreeEffect[] = [
    ...cancelAll(gone, `"${gone.node}" (${id}) has ceded`),
    { kind: 'say', id: parent, text: cedeText(gone, gone.phase.content) },
  ];
  return { tree: { ...next, speaker }, effects };
}

function cedeText({ node, id }: Instance, content: Plain): string {
  const from = `"${node}" (${id})`;
  if (content === null || content === '') return `${from} has finished without a result.`;
  return `${from} has finished. Its result:\n\n${typeof content === 'string' ? content : JSON.stringify(content)}`;
}

function wait(tree: Tree, { id, wait }: Of<'waiting'>): Tree {
  return change(tree, id, { waits: [...without(known(tree, id), wait.callId), wait] });
}

function without({ waits }: Instance, callId: string): readonly Wait[] {
  return waits.filter((one) => one.callId !== callId);
}

function answer(tree: Tree, { id, callId, answer }: Of<'answered'>): Tree {
  const { waits } = known(tree, id);
  return change(tree, id, { waits: waits.map((wait) => (wait.callId === callId ? { ...wait, answer } : wait)) });
}

/**
 * The first `count` messages of the queue are in the speaker's context now. An idle speaker becomes ready, unless all
 * of them are silent.
 */
function deliver(tree: Tree, { count, wakes }: Of<'delivered'>): Tree {
  const delivered = tree.queue.slice(0, count);
  const next = { ...tree, queue: tree.queue.slice(count) };
  const { phase } = known(tree, tree.speaker);
  return phase.kind === 'idle' && (wakes === true || delivered.some(({ silent }) => !silent))
    ? change(next, tree.speaker, { phase: READY })
    : next;
}

function change(tree: Tree, id: string, fields: Partial<Instance>): Tree {
  return withInstance(tree, id, (old) => Object.freeze({ ...old, ...fields }));
}

function known(tree: Tree, id: string): Instance {
  const found = findInstance(tree, id);
  if (found === undefined) throw new MachineError('transition', `There is no instance "${id}" any more.`);
  return found;
}

function cancelAll(instance: Instance, reason: string): TreeEffect[] {
  return [...walk(instance)]
    .filter(({ worker, waits }) => worker || waits.length > 0)
    .map(({ id, node, worker, waits }) => ({ kind: 'cancel', id, node, worker, waits, reason }));
}

function isWithin(id: string, above: string): boolean {
  return id === above || id.startsWith(`${above}.`);
}

/** The content that a handler cedes, as the tree keeps it. */
export function toContent(content: unknown): Plain {
  return content === undefined ? null : toPlain(content, 'content');
}
