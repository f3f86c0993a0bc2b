import type { FaultKind, Faults } from './faults.ts';
import type { Ledger } from './ledger.ts';
import type { SimProcess, VirtualTime } from './virtual-time.ts';

/** The objects that the parts of a world share. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly ledger: Ledger;
  log(line: string): void;
  /** Lets the fault happen to the process. */
  harm(fault: FaultKind, process: SimProcess): void;
  isDatabaseAway(): boolean;
  /** What happens outside if the process dies: its transactions are undone, its connections break. The returned function takes it back. */
  onDeath(process: SimProcess, work: () => void): () => void;
}
