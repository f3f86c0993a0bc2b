import {
  type JournalRecord,
  Session,
  type SessionJson,
  type Settlement,
  StoredTranscriptError,
  Transcript,
} from '@lastcall/core';
import { StoredMachineError } from '../errors.ts';
import { openCalls } from '../tree/open-calls.ts';
import { type SessionOptions, Thread } from '../tree/thread.ts';
import { findInstance, parentId, type Tree } from '../tree/tree.ts';
import { count, held, record } from './stored-fields.ts';

/** A restored thread, and its calls that have not ended. */
export interface RestoredThread {
  readonly thread: Thread;
  readonly open: ReadonlyMap<string, Settlement>;
  readonly path: string;
}

/** Where the sessions of threads come from. */
export interface SessionSource {
  readonly sessionOptions: (id: string) => SessionOptions;
  /** For a machine that is restored from a journal: the records of a thread's calls since its session was stored. */
  readonly records?: ReadonlyMap<string, readonly JournalRecord[]>;
}

export function restoreThreads(given: unknown, source: SessionSource): ReadonlyMap<string, RestoredThread> {
  const threads = new Map<string, RestoredThread>();
  for (const [id, stored] of Object.entries(record(given, 'threads'))) {
    const path = `threads.${id}`;
    if (!/^root(\.[1-9]\d{0,8})*$/.test(id)) throw new StoredMachineError(path, 'is no id of an instance.');
    threads.set(id, restoreThread(id, stored, path, source));
  }
  return threads;
}

function restoreThread(
  id: string,
  given: unknown,
  path: string,
  { sessionOptions, records }: SessionSource,
): RestoredThread {
  const stored = record(given, path);
  const transcript = restoreTranscript(stored.transcript, `${path}.transcript`);
  const sessionJson = stored.session === undefined ? undefined : restoreSession(stored.session, `${path}.session`);
  const thread = new Thread({
    id,
    transcript,
    length: transcript.entries.length,
    sessionJson,
    sessionOptions: () => sessionOptions(id),
    ...(records === undefined ? {} : { records: records.get(id) ?? [] }),
  });
  thread.logged = count(stored.logged, transcript.entries.length, `${path}.logged`);
  const open = openCalls(transcript.entries);
  // A message may have been added to it since, and then all of it is in the log, though its calls have no end yet.
  const isMidBatch = [...open.values()].some(({ outcome }) => outcome.status !== 'pending');
  thread.inFlight = isMidBatch || thread.logged < transcript.entries.length;
  // The session of a journal is made when its thread acts: most threads of a large tree only wait.
  if (records === undefined) held(`${path}.session`, () => thread.storedSession('refuse'));
  return { thread, open, path };
}

export function restoreTranscript(given: unknown, path: string): Transcript {
  try {
    return Transcript.fromJSON(given as never);
  } catch (cause) {
    if (!(cause instanceof StoredTranscriptError)) throw cause;
    throw new StoredMachineError(`${path}.${cause.path}`, cause.problem, { cause });
  }
}

/**
 * Restores the part of the session that needs no options, so that damage is found now and not when the thread is first
 * used.
 */
function restoreSession(given: unknown, path: string): SessionJson {
  const { version, slices } = record(given, path);
  const { 'lastcall.succeeded': own } = record(slices, `${path}.slices`);
  const json = { version, slices: own === undefined ? {} : { 'lastcall.succeeded': own } };
  held(path, () => Session.fromJSON(json as SessionJson));
  return given as SessionJson;
}

/** Calls of removed instances must have ended, because nothing could end them any more. */
export function assertThreadsFit(tree: Tree, threads: ReadonlyMap<string, RestoredThread>): void {
  for (const [id, { thread, open, path }] of threads) {
    assertBorn(tree, id, path);
    if (id === tree.root.id || findInstance(tree, id)?.worker === true) continue;
    const [callId] = open.keys();
    if (callId !== undefined)
      throw new StoredMachineError(`${path}.transcript`, `call "${callId}" has no end, and its instance is gone.`);
    if (thread.inFlight) throw new StoredMachineError(`${path}.logged`, 'must be all of it: its instance is gone.');
  }
}

/** If an id could be assigned again, a new instance would continue the conversation of a removed one. */
function assertBorn(tree: Tree, id: string, path: string): void {
  const parent = findInstance(tree, parentId(id) ?? '');
  if (parent === undefined || Number(id.slice(parent.id.length + 1)) <= parent.born) return;
  throw new StoredMachineError(path, `"${parent.id}" never had such a child.`);
}
