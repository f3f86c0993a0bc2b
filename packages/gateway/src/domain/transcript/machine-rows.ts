import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { type Answer, type Entry, type JournalRecord, Transcript, type TranscriptJson } from '@lastcall/core';

/*
 * The rows of a machine, in the transcript of its thread:
 *
 *   input     what a run gives to the machine: written when the run starts, with the events that it took
 *   command-result   how a command of the run ended
 *   others    what the machine wrote to its journal: each entry names its conversation as `thread`, and `machine` entries are about the tree
 *
 * The conversation with the user is the thread "root". Workers have their own, under their ids.
 */

/** The kind of the row with what a run gives to a machine. */
export const INPUT = 'input';

/** Messages for the primary, and answers to calls that wait. */
export interface MachineInput {
  readonly kind: typeof INPUT;
  readonly messages: readonly LanguageModelV4Message[];
  readonly answers: Readonly<Record<string, Answer>>;
  /** Commands, in order. Rows of earlier versions have none. */
  readonly commands?: readonly GivenCommand[];
}

/** A command of the inbox. */
export interface GivenCommand {
  /** The id of its event. */
  readonly key: string;
  readonly name: string;
  readonly input: unknown;
  readonly instanceId?: string | undefined;
}

/** The kind of the row with the result of a command. */
export const COMMAND_RESULT = 'command-result';

export interface CommandResult {
  readonly kind: typeof COMMAND_RESULT;
  readonly key: string;
  readonly name: string;
  /** Set if it succeeded. */
  readonly output?: unknown;
  /** Set if it failed. Nothing was changed then. */
  readonly error?: string;
}

/**
 * The end of a command, if the entry has one: its result, or the record that the machine wrote when it succeeded. Undefined for all
 * others.
 */
export function endOfCommand(entry: object): Pick<CommandResult, 'key' | 'output' | 'error'> | undefined {
  const { kind, change } = entry as { readonly kind?: unknown; readonly change?: CommandRecord };
  if (kind === COMMAND_RESULT) return entry as CommandResult;
  if (kind !== 'machine' || change?.kind !== 'command' || change.idempotencyKey === undefined) return undefined;
  return { key: change.idempotencyKey, output: change.output ?? null };
}

interface CommandRecord {
  readonly kind: string;
  readonly idempotencyKey?: string;
  readonly output?: unknown;
}

/** The conversation with the user. */
export const ROOT = 'root';

interface MachineFields {
  readonly thread?: string;
  readonly instanceId?: string;
  readonly node?: string;
  /** True on the first entry of a turn whose start has no separate row. */
  readonly begins?: boolean;
}

/** Which instance of a machine wrote an entry. All fields are undefined for an entry of a turn. */
export function originOf(entry: Entry): MachineFields {
  return entry as MachineFields;
}

/** True for a row that belongs to a machine. */
export function isOfMachine(entry: Entry): boolean {
  const { kind } = entry as { readonly kind: string };
  return kind === INPUT || kind === COMMAND_RESULT || kind === 'machine' || originOf(entry).thread !== undefined;
}

/** True for a record that the machine wrote to its journal. */
export function isMachineRecord({ entry }: JournalRecord): boolean {
  const { kind } = entry as { readonly kind: string };
  return isOfMachine(entry) && kind !== INPUT && kind !== COMMAND_RESULT;
}

/** How many replies the newest run of a machine has written. */
export function repliesOfRun(rows: readonly { readonly kind: string }[]): number {
  const start = rows.findLastIndex(({ kind }) => kind === INPUT);
  return rows.slice(start + 1).filter(({ kind }) => kind === 'reply').length;
}

/** The conversation of one instance, as the rows since the last compaction have it. */
export function conversationOf(
  thread: string,
  { records, machine }: { readonly records: readonly JournalRecord[]; readonly machine?: unknown },
): readonly Entry[] {
  let entries = [...storedConversation(machine, thread)];
  for (const { entry, staged } of records) {
    const { change } = entry as { readonly change?: { readonly kind: string; readonly machine?: unknown } };
    if (change?.kind === 'created') entries = [...storedConversation(change.machine, thread)];
    const { machine: more = [] } = (staged ?? {}) as { readonly machine?: readonly Entry[] };
    entries.push(...[entry, ...more].filter((one) => originOf(one).thread === thread));
  }
  return entries;
}

/** A conversation of a machine that was stored whole. */
function storedConversation(machine: unknown, thread: string): readonly Entry[] {
  const { threads = {} } = (machine ?? {}) as { readonly threads?: Readonly<Record<string, StoredThread>> };
  const stored = Object.hasOwn(threads, thread) ? threads[thread] : undefined;
  return stored === undefined ? [] : Transcript.fromJSON(stored.transcript).entries;
}

interface StoredThread {
  readonly transcript: TranscriptJson;
}

/** True for an entry of the conversation with the user: of a turn, or of the machine's primary. */
export function isSpoken(entry: Entry): boolean {
  return isOfMachine(entry) ? originOf(entry).thread === ROOT : true;
}
