import { LastcallError } from '@lastcall/core';
import type { StoredMachineError } from '@lastcall/machines';

/** The stored machine of an agent does not fit its charter. The agent waits until the program or the charter is changed. */
export function machineUnusable(cause: StoredMachineError): LastcallError {
  const { message } = cause;
  const fix =
    'Restore what is missing, or give the definition a migrate(tree) that repairs it. The stored machine is kept.';
  return new LastcallError('stored_machine', `${message} ${fix}`, { cause });
}
