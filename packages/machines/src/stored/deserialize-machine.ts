import { parseJson } from '@lastcall/core/internal';
import { type Charter, CompiledCharter } from '../charter/charter.ts';
import type { PlainObject } from '../charter/plain.ts';
import { StoredMachineError } from '../errors.ts';
import { LiveMachine, type LiveParts } from '../run/live-machine.ts';
import type { Machine } from '../run/machine.ts';
import type { MachineJson, TreeJson } from '../tree/machine-json.ts';
import { toQueued } from '../tree/message.ts';
import { MAIN, type SessionOptions } from '../tree/thread.ts';
import { findInstance, type QueuedMessage, type Tree } from '../tree/tree.ts';
import { restoreInstances } from './restore-instances.ts';
import { restoreLog } from './restore-log.ts';
import {
  assertThreadsFit,
  type RestoredThread,
  restoreThreads,
  restoreTranscript,
  type SessionSource,
} from './restore-threads.ts';
import { StoredWaits } from './restore-waits.ts';
import { type Fields, flag, held, list, record, restoreState } from './stored-fields.ts';

export interface RestoreOptions {
  /** The option as it was passed to `createMachine`. */
  session?: (instanceId: string) => SessionOptions;
  /**
   * Repairs a stored tree that does not fit the charter any more: a node or a pack is gone, or a state violates its
   * schema. Called once with the tree, only if it does not fit; returns the tree to restore instead.
   */
  migrate?: (tree: TreeJson) => TreeJson;
}

/**
 * Restores a machine from the JSON of `serializeMachine`, parsed or as text. Throws a StoredMachineError that names the
 * path if something no longer fits (another version, a node or a pack that is gone, a state that violates its schema)
 * or is damaged (waits, calls, conversations, the log).
 */
export function deserializeMachine(
  charter: Charter,
  json: MachineJson | string,
  options: RestoreOptions = {},
): Machine {
  const compiled = CompiledCharter.of(charter);
  // Reading may throw if the value is not JSON at all, for example because of a getter that throws or a value that
  // cannot be copied.
  return held('machine', () => restoreMachine(compiled, readJson(json), options).machine);
}

/** What a journal adds to a stored machine. */
export interface FromJournal {
  readonly records: NonNullable<SessionSource['records']>;
  readonly underway: NonNullable<LiveParts['underway']>;
}

/** The machine, and whether its tree had to be repaired. */
export function restoreMachine(
  charter: CompiledCharter,
  stored: Fields,
  { session = () => ({}), migrate }: RestoreOptions,
  journal?: FromJournal,
): { readonly machine: LiveMachine; readonly isMigrated: boolean } {
  const restored = (tree: unknown): LiveMachine =>
    new LiveMachine({ ...restore(charter, { ...stored, tree }, session, journal), isRecorded: journal !== undefined });
  try {
    return { machine: restored(stored.tree), isMigrated: false };
  } catch (error) {
    if (!(error instanceof StoredMachineError)) throw error;
    const { path, problem, cause, instanceId, node } = error;
    if (!path.startsWith('tree.')) throw error;
    if (migrate === undefined)
      throw new StoredMachineError(path, problem, { cause, instanceId, node, tree: stored.tree });
    return { machine: restored(migrate(structuredClone(stored.tree) as TreeJson)), isMigrated: true };
  }
}

function restore(
  charter: CompiledCharter,
  stored: Fields,
  sessionOptions: LiveParts['sessionOptions'],
  journal: FromJournal | undefined,
): LiveParts {
  const tree = record(stored.tree, 'tree');
  const threads = restoreThreads(stored.threads, {
    sessionOptions,
    ...(journal === undefined ? {} : { records: journal.records }),
  });
  const waits = new StoredWaits(threads);
  const { root, speaker } = restoreInstances(charter, tree.root, waits);
  waits.assertAllClaimed();
  const restored: Tree = { root, packs: readPacks(charter, tree.packs), queue: readQueue(tree), speaker };
  assertThreadsFit(restored, threads);
  assertSomeInstanceActs(restored, threads);
  return {
    charter,
    tree: restored,
    sessionOptions,
    threads: new Map([...threads].map(([id, { thread }]) => [id, thread])),
    log: restoreLog(stored, threads),
    ...(journal === undefined ? {} : { underway: journal.underway }),
  };
}

/** The speaker ends a turn that has begun. If it is idle, it waits for a message and would never continue the turn. */
function assertSomeInstanceActs(tree: Tree, threads: ReadonlyMap<string, RestoredThread>): void {
  const main = threads.get(MAIN)?.thread;
  const speaker = findInstance(tree, tree.speaker);
  if (main?.isMidTurn === true && !main.inFlight && speaker?.phase.kind === 'idle')
    throw new StoredMachineError('threads.root.transcript', `a turn has not ended, and "${speaker.id}" is idle.`);
}

export function readJson(json: MachineJson | string): Fields {
  const stored = record(typeof json === 'string' ? parse(json) : json, 'machine');
  if (stored.version !== 1)
    throw new StoredMachineError('version', `must be 1, and it is ${JSON.stringify(stored.version)}.`);
  return stored;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new StoredMachineError('machine', 'is no JSON.', { cause });
  }
}

/** Pack state lives as long as its pack is registered; a new pack starts with its initial state. */
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
