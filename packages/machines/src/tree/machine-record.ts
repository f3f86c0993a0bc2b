import type { Entry, Staged } from '@lastcall/core';
import type { Origin, TreeEntry } from './log.ts';
import type { MachineJson } from './machine-json.ts';
import type { TreeEvent } from './tree-event.ts';

/**
 * What a machine gives to the methods of a journal. All of it is plain data, and a journal that stores entries and
 * `staged` as JSON needs to know none of it: `machineFromRecords` reads it back.
 */
export type RecordedEntry = ThreadEntry | ChangeEntry;

/** An entry of a conversation. `thread` names the conversation: `root`, or the id of a worker. */
export type ThreadEntry = Entry &
  Origin & {
    readonly thread: string;
    /** On the last of some entries that the machine itself wrote: they are part of its history at once. */
    readonly logged?: true;
    /** On the start of a turn that continues the session of the turn before. */
    readonly session?: 'kept';
    /** On the first entry of such a turn, if the start has no separate entry: a step then costs a journal one entry less. */
    readonly begins?: true;
    readonly also?: Also;
  };

/** The changes that followed an entry in the same write. */
type Also = readonly MachineChange[];

/** What happened to the machine itself. Core's readers skip entries of this kind. */
export interface ChangeEntry {
  readonly kind: 'machine';
  readonly change: MachineChange;
  readonly also?: Also;
}

export type MachineChange =
  | TreeEvent
  /** The whole machine. It replaces everything before it. */
  | { readonly kind: 'created'; readonly machine: MachineJson }
  /** A step of the instance is over: its entries and changes are part of the history. */
  | ({ readonly kind: 'concluded'; readonly thread: string } & Origin)
  /** A step is over: what is in the history by now was reported with it. */
  | { readonly kind: 'reported' }
  | NotedEntry;

/** Log entries that no event of the tree implies. */
export type NotedEntry =
  | (Extract<TreeEntry, { kind: 'command' }> & {
      readonly idempotencyKey?: string;
      /** What the command returned, as JSON. Only with a key: a host that finds the key again can answer with it. */
      readonly output?: unknown;
    })
  | Extract<TreeEntry, { kind: 'resumed' }>;

/** The changes of a call, as a machine stages them: with what the call did to the tree. */
export interface MachineStaged extends Staged {
  readonly machine?: readonly RecordedEntry[];
}
