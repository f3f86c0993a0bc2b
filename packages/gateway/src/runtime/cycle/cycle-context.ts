import { AsyncLocalStorage } from 'node:async_hooks';
import { LastcallError, type ToolContext } from '@lastcall/core';
import type { Kysely } from 'kysely';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Tables } from '../../ports/store/tables.ts';
import type { Cycle, CycleAgent } from './cycle.ts';

/** What a tool of the gateway's own knows of the cycle it runs in. */
export interface CycleContext {
  readonly services: Services;
  readonly runId: string;
  readonly agent: CycleAgent;
  /**
   * Reads the store, and waits for it while it is away: that is our failure, not the tool's, and no model is told of it. If the store
   * stays away for longer than the lease lasts, the cycle is interrupted, and goes on once the store is back.
   */
  read<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /**
   * A write to the store that is applied in the transaction that settles the call, if the call succeeds: no transaction is open
   * while a tool runs, and nothing of a failed call remains. It may run more than once and must not do anything but write.
   */
  stage(ctx: ToolContext, write: StagedWrite): void;
}

export interface RunningCycle extends CycleContext {
  readonly cycle: Cycle;
}

const contexts = new AsyncLocalStorage<RunningCycle>();

/** Tools are made once for all cycles: which one a call is in, it finds by what it was started from. */
export function runInCycle<T>(context: RunningCycle, work: () => T): T {
  return contexts.run(context, work);
}

/** To be asked when a call begins. */
export function currentCycle(): RunningCycle {
  const context = contexts.getStore();
  if (context === undefined) throw new LastcallError('no_cycle', 'This tool runs only in the cycle of an agent.');
  return context;
}

export type StagedWrite = (tx: Tx) => Promise<void>;
