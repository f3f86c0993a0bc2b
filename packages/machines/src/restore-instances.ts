import type { CompiledCharter } from './charter.ts';
import type { CompiledNode } from './compiled-node.ts';
import { StateError, StoredMachineError } from './errors.ts';
import { toPlain } from './plain.ts';
import { count, type Fields, list, record, restoreState } from './stored-fields.ts';
import { type Instance, type Phase, ROOT, type Wait } from './tree.ts';

/** The tree as it was stored, every instance held to the charter of today. Linear; not by recursion, however deep it is. */
export function restoreInstances(charter: CompiledCharter, given: unknown): { root: Instance; speaker: string } {
  const root = readInstance(charter, given, { path: 'tree.root', parent: undefined });
  let speaker = root;
  const ahead: Reading[] = [root];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { instance, children, path } = next;
    let last = 0;
    for (const [index, stored] of children.entries()) {
      const child = readInstance(charter, stored, {
        path: `${path}.children[${index}]`,
        parent: { instance, after: last },
      });
      last = Number(child.instance.id.slice(instance.id.length + 1));
      (instance.children as Instance[]).push(child.instance);
      ahead.push(child);
      if (!child.instance.worker && child.instance.id.length > speaker.instance.id.length) speaker = child;
    }
    assertOnePrimary(instance, path);
    Object.freeze(instance);
  }
  return { root: root.instance, speaker: speaker.instance.id };
}

interface Reading {
  readonly instance: Instance;
  /** Still to be read. */
  readonly children: readonly unknown[];
  readonly path: string;
}

interface Place {
  readonly path: string;
  /** And the number of the sibling before it. */
  readonly parent: { readonly instance: Instance; readonly after: number } | undefined;
}

function readInstance(charter: CompiledCharter, given: unknown, place: Place): Reading {
  const { path } = place;
  const stored = record(given, path);
  const node = readNode(charter, stored.node, `${path}.node`);
  const worker = readWorker(stored.worker, node, place);
  const born = count(stored.born, Number.MAX_SAFE_INTEGER, `${path}.born`);
  const instance: Instance = {
    id: readId(stored.id, place),
    node: node.name,
    state: restoreState(node.definition.state, stored.state, `${path}.state`),
    worker,
    phase: readPhase(stored.phase, worker, `${path}.phase`),
    waits: list(stored.waits, `${path}.waits`).map((wait, index) => readWait(wait, `${path}.waits[${index}]`)),
    born,
    children: [],
  };
  return { instance, children: list(stored.children, `${path}.children`), path };
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
  if (typeof worker !== 'boolean') throw new StoredMachineError(`${path}.worker`, 'must be true or false.');
  const must = node.worker || parent?.instance.worker === true;
  if (must && !worker) throw new StoredMachineError(`${path}.worker`, `"${node.name}" is a worker here.`);
  if (worker && parent === undefined) throw new StoredMachineError(`${path}.worker`, 'the root talks with the user.');
  return worker;
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

function readWait(given: unknown, path: string): Wait {
  const stored = record(given, path);
  for (const field of ['callId', 'toolName'])
    if (typeof stored[field] !== 'string') throw new StoredMachineError(`${path}.${field}`, 'must be a text.');
  if (stored.kind !== 'result' && stored.kind !== 'approval')
    throw new StoredMachineError(`${path}.kind`, 'must be result or approval.');
  if (stored.expiresAt !== undefined && typeof stored.expiresAt !== 'number')
    throw new StoredMachineError(`${path}.expiresAt`, 'must be a number.');
  return plain(toWait(stored), path) as unknown as Wait;
}

function toWait({ callId, toolName, kind, input = null, reason = null, expiresAt, answer }: Fields): Fields {
  return {
    callId,
    toolName,
    kind,
    input,
    reason,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(answer === undefined ? {} : { answer }),
  };
}

function plain(value: unknown, path: string): ReturnType<typeof toPlain> {
  try {
    return toPlain(value, path);
  } catch (cause) {
    if (!(cause instanceof StateError)) throw cause;
    throw new StoredMachineError(cause.path, cause.message.slice(cause.path.length + 2), { cause });
  }
}
