import { type SessionJson, Transcript, type TranscriptJson } from '@lastcall/core';
import type { Log, LogItem, TreeEntry } from './log.ts';
import type { Thread } from './thread.ts';
import type { Tree } from './tree.ts';

/** A machine as plain data. */
export interface MachineJson {
  /** The version of this format. */
  readonly version: 1;
  readonly tree: TreeJson;
  readonly threads: { readonly [id: string]: ThreadJson };
  readonly log: readonly LogItem[];
  readonly told: number;
}

/** The queue is a transcript of messages: messages may hold more than JSON does, and transcripts can serialize it. */
export interface TreeJson extends Pick<Tree, 'root' | 'packs'> {
  readonly queue: TranscriptJson;
  readonly silent: readonly boolean[];
}

interface ThreadJson {
  readonly transcript: TranscriptJson;
  readonly session?: SessionJson;
  readonly logged: number;
}

/** The parts of a machine that are stored. */
export interface StoredParts {
  readonly tree: Tree;
  readonly threads: ReadonlyMap<string, Thread>;
  readonly log: Log;
  readonly underway: ReadonlyMap<string, readonly TreeEntry[]>;
}

/** A machine with a journal keeps slices that its options do not name; `deserializeMachine` refuses them. */
export function toMachineJson(
  { tree, threads, log, underway }: StoredParts,
  unknownSlices: 'refuse' | 'keep',
): MachineJson {
  const changes = [...underway.values()].flat();
  return {
    version: 1,
    tree: toTreeJson(tree),
    threads: Object.fromEntries([...threads].map(([id, thread]) => [id, toThreadJson(thread, unknownSlices)])),
    log: [...log.items, ...changes.map((happened) => ({ happened }))],
    told: log.told,
  };
}

function toTreeJson({ root, packs, queue }: Tree): TreeJson {
  const messages = new Transcript(queue.map(({ message }) => ({ kind: 'message', message })));
  return { root, packs, queue: messages.toJSON(), silent: queue.map(({ silent }) => silent) };
}

function toThreadJson(thread: Thread, unknownSlices: 'refuse' | 'keep'): ThreadJson {
  const { transcript, logged } = thread;
  const session = thread.storedSession(unknownSlices);
  const json = { transcript: transcript.toJSON(), logged };
  return session === undefined ? json : { ...json, session };
}
