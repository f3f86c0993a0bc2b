import { type SessionJson, Transcript, type TranscriptJson } from '@lastcall/core';
import { LiveMachine } from '../run/live-machine.ts';
import type { Machine } from '../run/machine.ts';
import type { LogItem } from '../tree/log.ts';
import type { Thread } from '../tree/thread.ts';
import type { Tree } from '../tree/tree.ts';

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
interface TreeJson extends Pick<Tree, 'root' | 'packs'> {
  readonly queue: TranscriptJson;
  readonly silent: readonly boolean[];
}

interface ThreadJson {
  readonly transcript: TranscriptJson;
  readonly session?: SessionJson;
  readonly logged: number;
}

/**
 * A whole machine as plain data: tree, states, conversations, waiting calls and queued messages. It may be called in
 * the middle of a step: calls that have settled stay settled, and the next run does the rest.
 */
export function serializeMachine(machine: Machine): MachineJson {
  const live = LiveMachine.of(machine);
  const { root, packs, queue } = live.tree;
  const messages = new Transcript(queue.map(({ message }) => ({ kind: 'message', message })));
  const changes = [...live.underway.values()].flat();
  return {
    version: 1,
    tree: { root, packs, queue: messages.toJSON(), silent: queue.map(({ silent }) => silent) },
    threads: Object.fromEntries([...live.threads].map(([id, thread]) => [id, toThreadJson(thread)])),
    log: [...live.log.items, ...changes.map((happened) => ({ happened }))],
    told: live.log.told,
  };
}

function toThreadJson(thread: Thread): ThreadJson {
  const { transcript, logged } = thread;
  const session = thread.storedSession();
  const json = { transcript: transcript.toJSON(), logged };
  return session === undefined ? json : { ...json, session };
}
