import type { Entry } from '@lastcall/core';
import type { Plain } from '../charter/plain.ts';
import type { FieldPatch } from '../charter/state-schema.ts';
import type { Thread } from './thread.ts';
import type { Target } from './tree-event.ts';

/** Where something happened. */
export interface Origin {
  readonly instanceId: string;
  /** The name of the instance's node at that time. */
  readonly node: string;
}

/** What happened to the tree. */
export type TreeEntry = Origin &
  (
    | ({ readonly kind: 'patched'; readonly target: Target } & FieldPatch)
    | { readonly kind: 'moved'; readonly to: string }
    | { readonly kind: 'spawned'; readonly children: readonly Origin[] }
    | { readonly kind: 'ceded'; readonly content: Plain }
    | { readonly kind: 'command'; readonly name: string; readonly input: Plain }
    | { readonly kind: 'resumed'; readonly callId: string }
  );

/** One thing that happened: an entry of a core transcript with its instance, or a change of the tree. */
export type MachineEntry = (Entry & Origin) | TreeEntry;

/** A range of a thread, by reference, so that messages are stored once. */
interface Said extends Origin {
  readonly thread: string;
  readonly from: number;
  readonly to: number;
}

export type LogItem = { readonly said: Said } | { readonly happened: TreeEntry };

/** The order in which everything happened. It only grows. */
export class Log {
  readonly items: LogItem[];
  /** How much of it steps have reported. */
  told: number;

  constructor(items: readonly LogItem[] = [], told: number = 0) {
    this.items = [...items];
    this.told = told;
  }

  /** Logs what was added to a thread since the last time. */
  takeIn(thread: Thread, origin: Origin): void {
    const { length } = thread.transcript.entries;
    if (length === thread.logged) return;
    const { instanceId, node } = origin;
    this.items.push({ said: { thread: thread.id, instanceId, node, from: thread.logged, to: length } });
    thread.logged = length;
  }

  happened(entry: TreeEntry): void {
    this.items.push({ happened: entry });
  }

  /** The entries that no step has reported yet. */
  tell(threads: ReadonlyMap<string, Thread>): readonly MachineEntry[] {
    const fresh = this.items.slice(this.told);
    this.told = this.items.length;
    return toEntries(fresh, threads);
  }
}

export function toEntries(items: readonly LogItem[], threads: ReadonlyMap<string, Thread>): readonly MachineEntry[] {
  return items.flatMap((item): readonly MachineEntry[] => {
    if ('happened' in item) return [item.happened];
    const { thread, instanceId, node, from, to } = item.said;
    const entries = threads.get(thread)?.transcript.entries.slice(from, to) ?? [];
    return entries.map((entry) => ({ ...entry, instanceId, node }));
  });
}
