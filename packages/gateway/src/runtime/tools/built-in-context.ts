import type { Change, ToolContext } from '@lastcall/core';
import type { Kysely } from 'kysely';
import type { AgentLimits } from '../../config/agent-limits.ts';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Tables } from '../../ports/store/tables.ts';

/** What a built-in tool knows of the cycle it runs in. */
export interface BuiltInContext {
  readonly services: Services;
  readonly runId: string;
  readonly agent: BuiltInAgent;
  /**
   * Reads the store, and retries while the store is unavailable: that is our failure, not the tool's, and the model is not told of
   * it. If the store stays away for longer than the lease lasts, the cycle is interrupted, and resumes once the store is back.
   */
  read<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /**
   * Stages a write. It is applied in the transaction that settles the call, if the call succeeds: no transaction is open while a
   * tool runs, and nothing of a failed call remains. The write may run more than once, so it must do nothing but write.
   * `changes` is what people are told that it changes.
   */
  stage(ctx: ToolContext, write: StagedWrite, changes: readonly Change[]): void;
}

/** What the space tools also know: where the agent is now. A settled `enter_space` changes it. */
export interface SpaceToolContext extends BuiltInContext {
  position(): AgentPosition;
}

export interface AgentPosition {
  /** The space that visible calls and messages go to. */
  readonly activeSpaceId: string | null;
  /** The space that was told `agent.active`. */
  readonly announcedSpaceId: string | null;
}

export type StagedWrite = (tx: Tx) => Promise<void>;

export interface BuiltInAgent {
  readonly id: string;
  readonly entityId: string;
  readonly name: string;
  /** The agent's limits. Undefined means that they are read from its stored configuration. */
  readonly limits?: AgentLimits;
}
