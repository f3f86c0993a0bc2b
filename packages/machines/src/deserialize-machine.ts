import { LastcallError, type SessionOptions, Transcript } from '@lastcall/core';
import { type Charter, CompiledCharter } from './charter.ts';
import { StoredMachineError } from './errors.ts';
import { LiveMachine } from './live-machine.ts';
import { Log, type LogItem } from './log.ts';
import type { Machine } from './machine.ts';
import { toQueued } from './message.ts';
import type { PlainObject } from './plain.ts';
import { restoreInstances } from './restore-instances.ts';
import type { MachineJson } from './serialize-machine.ts';
import { count, type Fields, list, record, restoreState } from './stored-fields.ts';
import { Thread } from './thread.ts';
import type { QueuedMessage } from './tree.ts';

export interface RestoreOptions {
  /** As it was given to `createMachine`. */
  session?: (instanceId: string) => SessionOptions;
}

/**
 * The machine that `serializeMachine` stored: of its JSON, parsed or as text. Refuses what no longer fits (another
 * version, a node or a pack that is gone, state against its schema) with a StoredMachineError that names the path.
 */
export function deserializeMachine(
  charter: Charter,
  json: MachineJson | string,
  options: RestoreOptions = {},
): Machine {
  const compiled = CompiledCharter.of(charter);
  const stored = readJson(json);
  const sessionOptions = options.session ?? (() => ({}));
  const tree = record(stored.tree, 'tree');
  const { root, speaker } = restoreInstances(compiled, tree.root);
  const threads = readThreads(stored.threads, sessionOptions);
  const log = readLog(stored, threads);
  return new LiveMachine({
    charter: compiled,
    tree: { root, packs: readPacks(compiled, tree.packs), queue: readQueue(tree), speaker },
    sessionOptions,
    threads,
    log,
  });
}

function readJson(json: MachineJson | string): Fields {
  const stored = record(typeof json === 'string' ? parse(json) : json, 'machine');
  if (stored.version !== 1)
    throw new StoredMachineError('version', `must be 1, and it is ${JSON.stringify(stored.version)}.`);
  return stored;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StoredMachineError('machine', 'is no JSON.', { cause });
  }
}

/** Pack state lives as long as its pack is registered; a pack that is new begins at its beginning. */
function readPacks(charter: CompiledCharter, given: unknown): { readonly [name: string]: PlainObject } {
  const stored = record(given, 'tree.packs');
  const states: Record<string, PlainObject> = { ...charter.packStates };
  for (const [name, state] of Object.entries(stored)) {
    const path = `tree.packs.${name}`;
    const pack = charter.packs.get(name);
    if (pack === undefined) throw new StoredMachineError(path, 'the charter has no such pack.');
    states[name] = restoreState(pack.state, state, path);
  }
  return states;
}

function readQueue({ queue, silent }: Fields): readonly QueuedMessage[] {
  const { entries } = readTranscript(queue, 'tree.queue');
  const flags = list(silent, 'tree.silent');
  return entries.map((entry, index) => {
    if (entry.kind !== 'message') throw new StoredMachineError(`tree.queue.entries[${index}]`, 'is no message.');
    const path = `tree.queue.entries[${index}]`;
    return held(path, () => toQueued({ ...entry.message, silent: flags[index] === true } as never));
  });
}

function readThreads(given: unknown, sessionOptions: (id: string) => SessionOptions): Map<string, Thread> {
  const threads = new Map<string, Thread>();
  for (const [id, one] of Object.entries(record(given, 'threads'))) {
    const path = `threads.${id}`;
    const stored = record(one, path);
    const transcript = readTranscript(stored.transcript, `${path}.transcript`);
    const sessionJson = stored.session === undefined ? undefined : (record(stored.session, `${path}.session`) as never);
    const thread = new Thread({ id, transcript, sessionJson, sessionOptions: () => sessionOptions(id) });
    thread.logged = count(stored.logged, transcript.entries.length, `${path}.logged`);
    thread.inFlight = thread.logged < transcript.entries.length;
    held(`${path}.session`, () => thread.storedSession());
    threads.set(id, thread);
  }
  return threads;
}

function readTranscript(given: unknown, path: string): Transcript {
  return held(path, () => Transcript.fromJSON(given as never));
}

function readLog(stored: Fields, threads: ReadonlyMap<string, Thread>): Log {
  const items = list(stored.log, 'log').map((item, index) => {
    const path = `log[${index}]`;
    const { said, happened } = record(item, path);
    if (said === undefined) return { happened: record(happened, `${path}.happened`) };
    const { thread, from, to } = record(said, `${path}.said`);
    const { logged } = threads.get(String(thread)) ?? { logged: 0 };
    if (count(from, logged, `${path}.said.from`) > count(to, logged, `${path}.said.to`))
      throw new StoredMachineError(`${path}.said`, 'ends before it begins.');
    return item;
  });
  return new Log(items as readonly LogItem[], count(stored.told, items.length, 'told'));
}

function held<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof LastcallError) throw new StoredMachineError(path, cause.message, { cause });
    throw cause;
  }
}
