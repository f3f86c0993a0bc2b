import { LastcallError } from '@lastcall/core';
import {
  continueMachine,
  createMachine,
  type Machine,
  machineFromRecords,
  type RecordsOptions,
  StoredMachineError,
} from '@lastcall/machines';
import type { DefinedMachine } from '../../config/definitions.ts';
import type { CountedMessages } from '../../domain/transcript/estimate-tokens.ts';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import type { SentMessages } from '../../domain/transcript/sent-messages.ts';
import { recordsIn, storedMachine } from '../../domain/transcript/stored-machine.ts';

/** What the sessions of its instances are given besides their state. */
type SessionOf = NonNullable<RecordsOptions['session']>;

/** What is stored of a machine. */
type StoredMachine = Parameters<typeof storedMachine>[0];

/** A machine after a run, and the rows that the run began with and ended with. */
interface KeptMachine {
  readonly machine: Machine;
  /** The messages of each instance as they were last sent to its model. */
  readonly sent: SentByInstance;
  readonly charter: DefinedMachine['charter'];
  /** How many rows the machine had been restored from. */
  readonly from: number;
  readonly length: number;
  readonly last: TranscriptRow;
}

const kept = new WeakMap<TranscriptRow, KeptMachine>();

/**
 * Keeps the machine for the next run of the same worker, so that a run does not restore instances that only wait. It is found by the first
 * row, as a past transcript is: cached rows are the same objects in each run, and rows that were read again are others.
 */
export function keepMachine(
  { charter }: DefinedMachine,
  { machine, sent }: NextMachine,
  { from, rows }: { readonly from: number; readonly rows: readonly TranscriptRow[] },
): void {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first !== undefined && last !== undefined) {
    kept.set(first, { machine, sent, charter, from, length: rows.length, last });
  }
}

/** The machine for the next run: the one that was kept, with what the last run stored, or the one that is stored. */
export function nextMachine(defined: DefinedMachine, stored: StoredMachine, session: SessionOf): NextMachine {
  const [first] = stored.rows;
  const known = first === undefined ? undefined : kept.get(first);
  // A run changes it, so no other run may find it.
  if (first !== undefined) kept.delete(first);
  const isOf = known?.charter === defined.charter && stored.rows[known.length - 1] === known.last;
  const records = isOf ? recordsIn(stored.rows.slice(known.from)) : [];
  const next = isOf ? continueMachine(known.machine, records, { session }) : undefined;
  return next === undefined || known === undefined
    ? { machine: restoreMachine(defined, stored, session), sent: new Map() }
    : { machine: next, sent: known.sent };
}

/** What an instance sent to its model. */
export interface SentOfInstance {
  readonly messages: SentMessages;
  /** The size of its last request. */
  counted: CountedMessages;
}

/** By the id of the instance. */
export type SentByInstance = Map<string, SentOfInstance>;

interface NextMachine {
  readonly machine: Machine;
  readonly sent: SentByInstance;
}

/** The machine as the rows of its thread have it, or a new one. */
export function restoreMachine(
  { charter, root, migrate }: DefinedMachine,
  stored: StoredMachine,
  session: SessionOf = () => ({}),
): Machine {
  const { machine: from, records = [] } = storedMachine(stored);
  if (from === undefined && records.length === 0) return createMachine(charter, { root, session });
  try {
    return machineFromRecords(charter, records, {
      session,
      ...(from === undefined ? {} : { from: from as never }),
      ...(migrate === undefined ? {} : { migrate }),
    });
  } catch (error) {
    throw error instanceof StoredMachineError ? machineUnusable(error) : error;
  }
}

/** The stored machine of an agent does not fit its charter. The agent waits until the program or the charter is changed. */
function machineUnusable(cause: StoredMachineError): LastcallError {
  const { message } = cause;
  const fix =
    'Restore what is missing, or give the definition a migrate(tree) that repairs it. The stored machine is kept.';
  return new LastcallError('stored_machine', `${message} ${fix}`, { cause });
}
