import { type Charter, CompiledCharter } from '../charter/charter.ts';
import type { PlainObject } from '../charter/plain.ts';
import { StoredMachineError } from '../errors.ts';
import { LiveMachine, type LiveParts } from '../run/live-machine.ts';
import type { Machine } from '../run/machine.ts';
import { toQueued } from '../tree/message.ts';
import { MAIN, type SessionOptions } from '../tree/thread.ts';
import { findInstance, type QueuedMessage, type Tree } from '../tree/tree.ts';
import { restoreInstances } from './restore-instances.ts';
import { restoreLog } from './restore-log.ts';
import { assertThreadsFit, type RestoredThread, restoreThreads, restoreTranscript } from './restore-threads.ts';
import { StoredWaits } from './restore-waits.ts';
import type { MachineJson } from './serialize-machine.ts';
import { type Fields, flag, held, list, record, restoreState } from './stored-fields.ts';

export interface RestoreOptions {
  /** As it was given to `createMachine`. */
  session?: (instanceId: string) => SessionOptions;
}

/**
 * The machine that `serializeMachine` stored: of its JSON, parsed or as text. Refuses what no longer fits (another
 * version, a node or a pack that is gone, state against its schema) and what is damaged (waits, calls, conversations, the log)
 * with a StoredMachineError that names the path.
 */
export function deserializeMachine(
  charter: Charter,
  json: MachineJson | string,
  options: RestoreOptions = {},
): Machine {
  const compiled = CompiledCharter.of(charter);
  const sessionOptions = options.session ?? (() => ({}));
  // The reading itself may fail, where what was given is no JSON at all: a getter that throws, what cannot be copied.
  return new LiveMachine(held('machine', () => restore(compiled, json, sessionOptions)));
}

function restore(
  charter: CompiledCharter,
  json: MachineJson | string,
  sessionOptions: LiveParts['sessionOptions'],
): LiveParts {
  const stored = readJson(json);
  const tree = record(stored.tree, 'tree');
  const threads = restoreThreads(stored.threads, sessionOptions);
  const waits = new StoredWaits(threads);
  const { root, speaker } = restoreInstances(charter, tree.root, waits);
  waits.assertAllClaimed();
  const restored: Tree = { root, packs: readPacks(charter, tree.packs), queue: readQueue(tree), speaker };
  assertThreadsFit(restored, threads);
  assertSomebodyActs(restored, threads);
  return {
    charter,
    tree: restored,
    sessionOptions,
    threads: new Map([...threads].map(([id, { thread }]) => [id, thread])),
    log: restoreLog(stored, threads),
  };
}

/** A turn that has begun is ended by whoever talks: one that waits for a message would never be given it. */
function assertSomebodyActs(tree: Tree, threads: ReadonlyMap<string, RestoredThread>): void {
  const main = threads.get(MAIN)?.thread;
  const speaker = findInstance(tree, tree.speaker);
  if (main?.isMidTurn === true && !main.inFlight && speaker?.phase.kind === 'idle')
    throw new StoredMachineError('threads.root.transcript', `a turn has not ended, and "${speaker.id}" is idle.`);
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
  const { entries } = restoreTranscript(queue, 'tree.queue');
  const flags = list(silent, 'tree.silent');
  const messages = entries.map((entry, index) => {
    const path = `tree.queue.entries[${index}]`;
    if (entry.kind !== 'message') throw new StoredMachineError(path, 'is no message.');
    const isSilent = flag(flags[index], `tree.silent[${index}]`);
    return held(path, () => toQueued({ ...entry.message, silent: isSilent } as never));
  });
  if (flags.length !== entries.length)
    throw new StoredMachineError('tree.silent', `must say of ${entries.length} messages whether they are.`);
  return messages;
}
