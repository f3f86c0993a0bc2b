import type { Answer, Transcript } from '@lastcall/core';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { AgentLimits } from '../../config/agent-limits.ts';
import type { Situation } from '../../domain/agents/describe-agent.ts';
import type { StoredRecord, TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import type { Lease } from '../lease/lease.ts';
import type { BuiltInAgent } from '../tools/built-in-context.ts';

/** One cycle of an agent while it runs: what it started with, and how far it has come. */
export interface Cycle {
  readonly lease: Lease;
  readonly runId: string;
  readonly number: number;
  readonly agent: ConfiguredAgent;
  readonly transcript: Transcript;
  /** What was written since the last compaction. Replaying it restores the session. */
  readonly records: readonly StoredRecord[];
  /** The transcript rows that the cycle started with and those it has written since. */
  readonly rows: TranscriptRow[];
  /** A snapshot of the session, taken at some row of the transcript. */
  readonly state: SessionState | undefined;
  /** The agent's space, goals, memories and plans when the cycle started. */
  readonly situation: Situation;
  /** Approvals and denials for calls of earlier cycles, which came with this cycle's events. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** True if another worker started the run: it died, stalled or was stopped. */
  readonly isTakenOver: boolean;
  /** True if a cancel was requested before this worker took the run over. */
  readonly isCancelRequested: boolean;
  /** The number of the next transcript row. */
  nextSeq: number;
  /** The space that visible calls and messages go to. */
  activeSpaceId: string | null;
  /** The ids of the calls that have a card. */
  readonly cards: Set<string>;
  /** The space that was told `agent.active`. */
  announcedSpaceId: string | null;
  /** True if the thread was released together with the end of the run, because there was nothing more to do. */
  leaseReleased: boolean;
  /** How the run ended. Set once that is durable. */
  endedAs?: 'completed' | 'failed' | 'cancelled';
  /** True if the end of the run was the last write, so that `rows` is the complete transcript. */
  endPersisted: boolean;
}

export interface ConfiguredAgent extends BuiltInAgent {
  readonly tag: string;
  readonly config: AgentConfig;
  readonly limits: AgentLimits;
}

/** The latest snapshot of a session, and the number of the transcript row it was taken after. */
export interface SessionState {
  readonly seq: number;
  readonly session: unknown;
}
