import type { Change, ToolContext } from '@lastcall/core';
import type { Kysely } from 'kysely';
import type { AgentLimits } from '../../config/agent-limits.ts';
import type { Situation } from '../../domain/agents/describe-agent.ts';
import type { Services } from '../../ports/services.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';

/** What a built-in tool can use of its run. */
export interface BuiltInContext {
  readonly services: Services;
  readonly runId: string;
  readonly agent: BuiltInAgent;
  /**
   * Reads the store, and retries while it is unavailable: this is not an error of the tool, so the model does not see
   * one. If the store is unavailable for longer than the lease, the run is interrupted, and resumes once the store is
   * back.
   */
  read<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /**
   * Stages a write. It is applied in the transaction that settles the call, if the call succeeds: no transaction is
   * open while a tool runs, and a failed call leaves no writes. The write may run more than once, so it must do nothing
   * but write. `changes` describes the changes to people.
   */
  stage(ctx: ToolContext, write: StagedWrite, changes: readonly Change[]): void;
  /** Set in a fork. */
  readonly forked?: ForkedContext;
}

/** What the built-in tools of a fork read instead of the store. */
export interface ForkedContext {
  /** Messages that came later do not exist. */
  readonly asOf: number;
  /** The thread of the original, which has the outputs of the calls before the fork. */
  readonly originThreadId: string;
  /** The goals, memories and plans of the agent, with what the fork has changed. */
  situation(): Situation;
}

/** Adds the agent's position for the space tools. A settled `enter_space` changes it. */
export interface SpaceToolContext extends BuiltInContext {
  position(): AgentPosition;
  /** The node of a machine that made the call. */
  nodeOf?(callId: string): string | undefined;
  /** Why a final message cannot end the run, in a sentence for the model. Undefined if it can. */
  whyNotFinal?(callId: string): string | undefined;
}

export interface AgentPosition {
  /** The space that visible calls and messages go to. */
  readonly activeSpaceId: string | null;
  /** The space in which the agent was announced with `agent.active`. */
  readonly announcedSpaceId: string | null;
}

export type StagedWrite = (tx: Tx) => Promise<void>;

export interface BuiltInAgent {
  readonly id: string;
  readonly entityId: string;
  readonly name: string;
  /** The agent's limits. If undefined, they are read from its stored configuration. */
  readonly limits?: AgentLimits;
}
