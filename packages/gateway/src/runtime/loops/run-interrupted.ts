import { LastcallError } from '@lastcall/core';

/**
 * The gateway stops before the run has ended. The run stays open exactly as it was last written, as if the process
 * had been killed. The worker that takes it over settles the calls that were running, repeats those that may run again,
 * and continues with the rest.
 */
export class RunInterrupted extends LastcallError {
  override readonly name: string = 'RunInterrupted';

  constructor() {
    super('run_interrupted', 'The gateway stops. The run stays open, and another worker continues it.');
  }
}
