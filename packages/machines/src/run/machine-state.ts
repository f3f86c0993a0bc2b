import type { CompiledCharter } from '../charter/charter.ts';
import type { Ledger } from '../tree/ledger.ts';
import type { Log, TreeEntry } from '../tree/log.ts';
import type { Tree } from '../tree/tree.ts';
import type { TreeEvent } from '../tree/tree-event.ts';
import type { Turnstile } from './turnstile.ts';

/**
 * The parts of a machine that a command and its claims use. LiveMachine has all of them and runs commands itself, so
 * without this interface the two files would import each other.
 */
export interface MachineState {
  readonly charter: CompiledCharter;
  readonly tree: Tree;
  readonly log: Log;
  readonly ledger: Ledger;
  /** Commands run one after another. */
  readonly commands: Turnstile;
  /** Held while leaves run. */
  readonly steps: Turnstile;
  apply(...events: readonly TreeEvent[]): readonly TreeEntry[];
  takeOutCeded(): void;
}
