import type { ToolContext } from '@lastcall/core';
import type { Limits } from '../config/limits.ts';
import type { Services } from '../services.ts';
import type { Tx } from '../store/store.ts';

/** What a tool of the gateway's own knows of the cycle it runs in. */
export interface CycleContext {
  readonly services: Services;
  readonly runId: string;
  readonly agent: CycleAgent;
  /**
   * A write to the store that is applied in the transaction that settles the call, if the call succeeds: no transaction is open
   * while a tool runs, and nothing of a failed call remains. It may run more than once and must not do anything but write.
   */
  stage(ctx: ToolContext, write: StagedWrite): void;
}

export type StagedWrite = (tx: Tx) => Promise<void>;

export interface CycleAgent {
  readonly id: string;
  readonly entityId: string;
  readonly name: string;
  /** What it may use; where it is not said, as it is configured. */
  readonly limits?: Limits;
}
