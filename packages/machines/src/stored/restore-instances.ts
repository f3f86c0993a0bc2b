import type { CompiledCharter } from '../charter/charter.ts';
import type { CompiledNode } from '../charter/compiled-node.ts';
import { isPlainObject } from '../charter/plain.ts';
import { StoredMachineError } from '../errors.ts';
import { DEEPEST } from '../tree/apply-event.ts';
import { type Instance, type Phase, ROOT } from '../tree/tree.ts';
import type { StoredWaits } from './restore-waits.ts';
import { count, flag, list, plain, record, restoreState } from './stored-fields.ts';

/**
 * Restores the tree, checking every instance against the current charter. Linear, and iterative so that deep trees do
 * not overflow the stack.
 */
export function restoreInstances(
  charter: CompiledCharter,
  given: unknown,
  waits: StoredWaits,
): { root: Instance; speaker: string } {
  const root = readInstance(charter, given, { path: 'tree.root', parent: undefined, depth: 1, waits });
  let speaker = root;
  const ahead: Reading[] = [root];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { instance, children, path, depth } = next;
    let last = 0;
    for (const [index, stored] of children.entries()) {
      const child = readInstance(charter, stored, {
        path: `${path}.children[${index}]`,
        parent: { instance, after: last },
        depth: depth + 1,
        waits,
      });
      last = Number(child.instance.id.slice(instance.id.length + 1));
      (instance.children as Instance[]).push(child.instance);
      ahead.push(child);
      if (!child.instance.worker && child.instance.id.length > speaker.instance.id.length) speaker = child;
    }
    assertOnePrimary(instance, path);
    assertPhaseFits(instance, path);
    Object.freeze(instance);
  }
  return { root: root.instance, speaker: speaker.instance.id };
}

interface Reading {
  readonly instance: Instance;
  /** The stored children that are still to be read. */
  readonly children: readonly unknown[];
  readonly path: string;
  readonly depth: number;
}

interface Place {
  readonly path: string;
  /** The parent, and the number of the previous sibling. */
  readonly parent: { readonly instance: Instance; readonly after: number } | undefined;
  /** The root has depth 1. */
  readonly depth: number;
  readonly waits: StoredWaits;
}

// Far more than any machine spawns, and counting on from here still gives unique numbers.
const MOST_BORN = 999_999_999;

/** An error names the instance, so that its host knows what to repair. */
function readInstance(charter: CompiledCharter, given: unknown, place: Place): Reading {
  try {
    return readFields(charter, given, place);
  } catch (error) {
    const { id, node } = isPlainObject(given) ? given : {};
    if (!(error instanceof StoredMachineError) || typeof id !== 'string' || typeof node !== 'string') throw error;
    throw new StoredMachineError(error.path, error.problem, { cause: error.cause, instanceId: id, node });
  }
}

function readFields(charter: CompiledCharter, given: unknown, place: Place): Reading {
  const { path, depth, waits } = place;
  if (depth > DEEPEST) throw new StoredMachineError(path, `the tree is more than ${DEEPEST} levels deep.`);
  const stored = record(given, path);
  const node = readNode(charter, stored.node, `${path}.node`);
  const worker = readWorker(stored.worker, node, place);
  const id = readId(stored.id, place);
  const instance: Instance = {
    id,
    node: node.name,
    state: restoreState(node.definition.state, stored.state, `${path}.state`),
    worker,
    phase: readPhase(stored.phase, worker, `${path}.phase`),
    waits: waits.restore(stored.waits, { id, worker }, `${path}.waits`),
    born: count(stored.born, MOST_BORN, `${path}.born`),
    children: [],
  };
  return { instance, children: list(stored.children, `${path}.children`), path, depth };
}

function readNode(charter: CompiledCharter, name: unknown, path: string): CompiledNode {
  const found = typeof name === 'string' ? charter.find(name) : undefined;
  if (found !== undefined) return found;
  const hint = 'A node that a handler made must be registered, or listed in the targets of its transition.';
  throw new StoredMachineError(path, `the charter has no node ${JSON.stringify(name)}. ${hint}`);
}

function readId(id: unknown, { path, parent }: Place): string {
  if (parent === undefined) {
    if (id === ROOT) return ROOT;
    throw new StoredMachineError(`${path}.id`, `must be "${ROOT}".`);
  }
  const { instance, after } = parent;
  const step = typeof id === 'string' && id.startsWith(`${instance.id}.`) ? id.slice(instance.id.length + 1) : '';
  const fits = /^[1-9]\d*$/.test(step) && Number(step) > after && Number(step) <= instance.born;
  if (fits) return id as string;
  throw new StoredMachineError(`${path}.id`, `${JSON.stringify(id)} is no id of a child born here.`);
}

function readWorker(worker: unknown, node: CompiledNode, { path, parent }: Place): boolean {
  const isWorker = flag(worker, `${path}.worker`);
  const must = node.worker || parent?.instance.worker === true;
  if (must && !isWorker) throw new StoredMachineError(`${path}.worker`, `"${node.name}" is a worker here.`);
  if (isWorker && parent === undefined) throw new StoredMachineError(`${path}.worker`, 'the root talks with the user.');
  return isWorker;
}

function assertOnePrimary({ children }: Instance, path: string): void {
  if (children.filter(({ worker }) => !worker).length > 1)
    throw new StoredMachineError(`${path}.children`, 'more than one would talk with the user.');
}

function readPhase(given: unknown, worker: boolean, path: string): Phase {
  const { kind, content } = record(given, path);
  if (kind === 'ceded') return Object.freeze({ kind, content: plain(content, `${path}.content`) });
  if (kind === 'ready' || kind === 'suspended' || (kind === 'idle' && !worker)) return Object.freeze({ kind });
  throw new StoredMachineError(`${path}.kind`, `must be ready, ${worker ? '' : 'idle, '}suspended or ceded.`);
}

/**
 * Checks what `applyEvent` guarantees: only a leaf below the root can have ceded, and a parent waits for its children.
 */
function assertPhaseFits({ id, phase, children }: Instance, path: string): void {
  if (phase.kind === 'ceded' && (id === ROOT || children.length > 0))
    throw new StoredMachineError(`${path}.phase.kind`, 'only a leaf below the root can cede.');
  if (phase.kind === 'idle' && children.length > 0)
    throw new StoredMachineError(`${path}.phase.kind`, 'a parent is asked again when its children have ceded.');
}
