import { LastcallError } from '@lastcall/core';
import {
  createMachine,
  type Machine,
  machineFromRecords,
  type RecordsOptions,
  StoredMachineError,
} from '@lastcall/machines';
import type { DefinedMachine } from '../../config/definitions.ts';
import { storedMachine } from '../../domain/transcript/stored-machine.ts';

/** What the sessions of its instances are given besides their state. */
type SessionOf = NonNullable<RecordsOptions['session']>;

/** The machine as the rows of its thread have it, or a new one. */
export function restoreMachine(
  { charter, root, migrate }: DefinedMachine,
  stored: Parameters<typeof storedMachine>[0],
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
