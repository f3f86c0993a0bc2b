import type { Answer, Transcript } from '@lastcall/core';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { Limits } from '../../config/agent-limits.ts';
import type { Situation } from '../../domain/agents/describe-agent.ts';
import type { StoredRecord, TranscriptRow } from '../../domain/consciousness/load-consciousness.ts';
import type { Lease } from '../lease.ts';

/** One waking of an agent, under way: what it was given, and how far it has come. */
export interface Cycle {
  readonly lease: Lease;
  readonly runId: string;
  readonly number: number;
  readonly agent: ConfiguredAgent;
  readonly transcript: Transcript;
  /** What was written since the last compaction, to bring the session to where it was. */
  readonly records: readonly StoredRecord[];
  /** What was in mind before the cycle and what was written since, as it was written. */
  readonly rows: TranscriptRow[];
  /** The session as it was at some row of the transcript. */
  readonly state: SessionState | undefined;
  /** Where the agent was and what it kept when the cycle was taken up. */
  readonly situation: Situation;
  /** Decisions on calls of earlier cycles that came with this one's events. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** A dead worker had begun it. */
  readonly isTakenOver: boolean;
  /** Somebody asked for its end before it was taken over. */
  readonly isCancelRequested: boolean;
  /** Of the next row of the transcript. */
  nextSeq: number;
  /** Where visible calls and messages go. */
  activeSpaceId: string | null;
  /** Calls that have a card. */
  readonly cards: Set<string>;
  /** Where `agent.active` was shown. */
  announcedSpaceId: string | null;
  /** The thread was let go when the run ended: there was nothing more to do. */
  leaseReleased: boolean;
  /** How the run ended, once that is durable. */
  endedAs?: 'completed' | 'failed' | 'cancelled';
  /** The end of the run is the last that was written: what was written is the whole of it. */
  endPersisted: boolean;
}

export interface ConfiguredAgent extends CycleAgent {
  readonly tag: string;
  readonly config: AgentConfig;
  readonly limits: Limits;
}

/** The latest snapshot of a session, and the row of the transcript it was taken after. */
export interface SessionState {
  readonly seq: number;
  readonly session: unknown;
}

export interface CycleAgent {
  readonly id: string;
  readonly entityId: string;
  readonly name: string;
  /** What it may use; where it is not said, as it is configured. */
  readonly limits?: Limits;
}
