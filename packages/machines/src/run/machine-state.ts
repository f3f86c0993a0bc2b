import type { CompiledCharter } from '../charter/charter.ts';
import type { Ledger } from '../tree/ledger.ts';
import type { Plan } from './plan.ts';
import type { Recorded, Recorder } from './recorder.ts';
import type { Turnstile } from './turnstile.ts';

/**
 * The parts of a machine that a command and its claims use. LiveMachine has all of them and runs commands itself, so
 * without this interface the two files would import each other.
 */
export interface MachineState extends Recorded {
  readonly charter: CompiledCharter;
  readonly ledger: Ledger;
  /** Commands run one after another. */
  readonly commands: Turnstile;
  /** Held while leaves run. */
  readonly steps: Turnstile;
  record<T>(make: (plan: Plan) => T, recorder?: Recorder): T | Promise<T>;
}
