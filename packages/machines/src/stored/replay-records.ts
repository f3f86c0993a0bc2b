import type { JournalRecord } from '@lastcall/core';
import { StoredMachineError } from '../errors.ts';
import { withoutKey } from '../run/plan.ts';
import { applyEvent } from '../tree/apply-event.ts';
import type { LogItem, Origin, TreeEntry } from '../tree/log.ts';
import type { MachineChange, NotedEntry } from '../tree/machine-record.ts';
import { findInstance, type QueuedMessage, type Tree, walk } from '../tree/tree.ts';
import { toTreeEntry } from '../tree/tree-entry.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import { count, type Fields, held, list, record, text } from './stored-fields.ts';

/** The changes of a session, as far as their shape goes. Whether they fit the session is known when it is made. */
function checkStaged(given: unknown, path: string): void {
  const { events, slices } = record(given, path);
  if (events !== undefined) list(events, `${path}.events`);
  if (slices === undefined) return;
  for (const [name, change] of Object.entries(record(slices, `${path}.slices`))) {
    const at = `${path}.slices.${name}`;
    const { version, patch } = record(change, at);
    count(version, Number.MAX_SAFE_INTEGER, `${at}.version`);
    record(patch, `${at}.patch`);
  }
}

interface ReplayedThread {
  readonly entries: unknown[];
  /** The session as it was stored, if it was. */
  readonly session: unknown;
  /** What changed in the session since. */
  readonly records: JournalRecord[];
  logged: number;
}

/**
 * Follows the records of a machine. It does again what the machine did in memory, on plain data and without a charter:
 * what a record says is taken as it is, and the result is checked as a whole when the machine is restored.
 */
export class ReplayedMachine {
  #tree: Tree | undefined;
  #threads = new Map<string, ReplayedThread>();
  #log: LogItem[] = [];
  #told = 0;
  #underway = new Map<string, TreeEntry[]>();

  /** Starts from a whole machine. */
  begin(machine: Fields): void {
    const tree = record(machine.tree, 'tree');
    this.#tree = readTree(tree);
    this.#threads = new Map(
      Object.entries(record(machine.threads, 'threads')).map(([id, stored]) => [id, readThread(stored, id)]),
    );
    this.#log = [...list(machine.log, 'log')] as LogItem[];
    this.#told = machine.told as number;
    this.#underway = new Map();
  }

  /** One record. `path` says where it is. */
  follow(given: unknown, path: string): void {
    const { entry, staged } = record(given, path);
    const fields = record(entry, `${path}.entry`);
    this.#recorded(fields, { staged, by: undefined, path: `${path}.entry` });
    if (fields.kind === 'machine' || staged === undefined) return;
    const { machine } = record(staged, `${path}.staged`);
    if (machine === undefined) return;
    const thread = text(fields.thread, `${path}.entry.thread`);
    for (const [index, one] of list(machine, `${path}.staged.machine`).entries()) {
      const at = `${path}.staged.machine[${index}]`;
      this.#recorded(record(one, at), { staged: undefined, by: thread, path: at });
    }
  }

  /** The machine after the last record, as `serializeMachine` would store it. */
  toJson(): Fields {
    const { root, packs, queue } = this.#known('records');
    return {
      version: 1,
      tree: {
        root,
        packs,
        queue: { version: 1, entries: queue.map(({ message }) => ({ kind: 'message', message })) },
        silent: queue.map(({ silent }) => silent),
      },
      threads: Object.fromEntries(
        [...this.#threads].map(([id, { entries, session, logged }]) => [
          id,
          { transcript: { version: 1, entries }, logged, ...(session === undefined ? {} : { session }) },
        ]),
      ),
      log: this.#log,
      told: this.#told,
    };
  }

  get records(): ReadonlyMap<string, readonly JournalRecord[]> {
    return new Map([...this.#threads].map(([id, { records }]) => [id, records]));
  }

  get underway(): ReadonlyMap<string, readonly TreeEntry[]> {
    return this.#underway;
  }

  /** An entry, and the changes that followed it in the same write. `by`: see `#change`. */
  #recorded(
    { also, ...fields }: Fields,
    { staged, by, path }: { readonly staged: unknown; readonly by: string | undefined; readonly path: string },
  ): void {
    if (fields.kind === 'machine') this.#change(fields.change, `${path}.change`, by);
    else this.#entry(fields, staged, path);
    if (also === undefined) return;
    for (const [index, one] of list(also, `${path}.also`).entries()) this.#change(one, `${path}.also[${index}]`, by);
  }

  #entry(given: Fields, staged: unknown, path: string): void {
    this.#known(path);
    if (staged !== undefined) checkStaged(staged, path.replace(/\.entry$/, '.staged'));
    const { thread: name, instanceId, node, logged, session, begins, ...entry } = given;
    const thread = this.#thread(text(name, `${path}.thread`));
    if (begins === true) thread.entries.push({ kind: 'turn' });
    thread.entries.push(entry);
    // What a session follows. A step of a machine resets nothing in it.
    if (entry.kind === 'settled' || entry.kind === 'pending' || (entry.kind === 'turn' && session !== 'kept'))
      thread.records.push({ entry, staged } as unknown as JournalRecord);
    if (logged === true) this.#takeIn(name as string, toOrigin({ instanceId, node }, path));
  }

  /** `by` is the thread of the call that made the change: its changes enter the log when its step is concluded. */
  #change(given: unknown, path: string, by: string | undefined): void {
    const change = record(given, path) as unknown as MachineChange;
    switch (change.kind) {
      case 'created':
        this.begin(record(change.machine, `${path}.machine`));
        return;
      case 'concluded': {
        const thread = text(change.thread, `${path}.thread`);
        this.#takeIn(thread, toOrigin(change, path));
        for (const happened of this.#underway.get(thread) ?? []) this.#log.push({ happened });
        this.#underway.delete(thread);
        return;
      }
      case 'reported':
        this.#known(path);
        this.#told = this.#log.length;
        return;
      case 'resumed':
      case 'command':
        this.#known(path);
        this.#log.push({ happened: toNoted(change) });
        return;
      default:
        this.#event(change, path, by);
    }
  }

  #event(event: TreeEvent, path: string, by: string | undefined): void {
    if (!EVENTS.has(event.kind))
      throw new StoredMachineError(`${path}.kind`, `${JSON.stringify(event.kind)} is no change of a machine.`);
    const before = this.#known(path);
    // An answer that came while the journal stored that its instance had gone.
    if (event.kind === 'answered' && findInstance(before, event.id) === undefined) return;
    // A live machine changes the phase of instances that it has. Others are refused here, as all other changes are by `applyEvent`.
    if (event.kind === 'phased' && findInstance(before, event.id) === undefined)
      throw new StoredMachineError(`${path}.id`, `there is no instance ${JSON.stringify(event.id)}.`);
    const { tree } = held(path, () => applyEvent(before, event));
    this.#tree = tree;
    const entries = toTreeEntry(event, before, tree);
    for (const happened of entries) {
      if (by === undefined) this.#log.push({ happened });
      else this.#changesIn(by).push(happened);
    }
  }

  #changesIn(thread: string): TreeEntry[] {
    const changes = this.#underway.get(thread) ?? [];
    this.#underway.set(thread, changes);
    return changes;
  }

  #takeIn(name: string, { instanceId, node }: Origin): void {
    const thread = this.#thread(name);
    const to = thread.entries.length;
    if (to === thread.logged) return;
    this.#log.push({ said: { thread: name, instanceId, node, from: thread.logged, to } });
    thread.logged = to;
  }

  #thread(name: string): ReplayedThread {
    const known = this.#threads.get(name);
    if (known !== undefined) return known;
    const made: ReplayedThread = { entries: [], session: undefined, records: [], logged: 0 };
    this.#threads.set(name, made);
    return made;
  }

  #known(path: string): Tree {
    if (this.#tree !== undefined) return this.#tree;
    throw new StoredMachineError(
      path,
      'the records must begin with the whole machine, or follow one that is given as `from`.',
    );
  }
}

const EVENTS: ReadonlySet<string> = new Set<TreeEvent['kind']>([
  'patched',
  'moved',
  'spawned',
  'ceded',
  'removed',
  'phased',
  'waiting',
  'settled',
  'answered',
  'queued',
  'delivered',
]);

function toNoted(entry: NotedEntry): TreeEntry {
  return entry.kind === 'command' ? withoutKey(entry) : entry;
}

function toOrigin({ instanceId, node }: Fields | Origin, path: string): Origin {
  return { instanceId: text(instanceId, `${path}.instanceId`), node: text(node, `${path}.node`) };
}

function readTree(stored: Fields): Tree {
  const root = record(stored.root, 'tree.root') as unknown as Tree['root'];
  let speaker = root;
  for (const instance of walk(root)) if (!instance.worker && instance.id.length > speaker.id.length) speaker = instance;
  const entries = list(record(stored.queue, 'tree.queue').entries, 'tree.queue.entries');
  const silent = list(stored.silent, 'tree.silent');
  const queue = entries.map(
    (entry, index): QueuedMessage =>
      ({ message: record(entry, `tree.queue.entries[${index}]`).message, silent: silent[index] }) as QueuedMessage,
  );
  return { root, packs: record(stored.packs, 'tree.packs') as Tree['packs'], queue, speaker: speaker.id };
}

function readThread(given: unknown, id: string): ReplayedThread {
  const { transcript, session, logged } = record(given, `threads.${id}`);
  const { entries } = record(transcript, `threads.${id}.transcript`);
  return {
    entries: [...list(entries, `threads.${id}.transcript.entries`)],
    session,
    records: [],
    logged: logged as number,
  };
}
