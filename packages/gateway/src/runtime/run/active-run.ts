import type { Answer, Transcript } from '@lastcall/core';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { AgentLimits } from '../../config/agent-limits.ts';
import type { DaySpendLimits } from '../../config/spend-limits.ts';
import type { Situation } from '../../domain/agents/describe-agent.ts';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import type { PastTranscript } from '../../domain/transcript/past-transcript.ts';
import type { SessionState } from '../../domain/transcript/restore-session.ts';
import type { ActiveFork } from '../forks/active-fork.ts';
import type { Lease } from '../lease/lease.ts';
import type { BuiltInAgent } from '../tools/built-in-context.ts';
import type { RunSetup } from './run-setup.ts';
import type { RunningState } from './run-state.ts';
import type { ThreadKind } from './thread-kind.ts';

/** The data that a run starts with. Its progress is in its state: run-state.ts. */
export interface ActiveRun {
  readonly lease: Lease;
  readonly runId: string;
  readonly number: number;
  readonly kind: ThreadKind;
  /** The settings that the request of a conversation asked for. */
  readonly settings?: TurnSettings | undefined;
  readonly agent: ConfiguredAgent;
  /** The thread's transcript when the run began. */
  readonly past: PastTranscript;
  /** The same with the events of this run. */
  readonly transcript: Transcript;
  /** How many entries of the transcript earlier runs wrote. A run that continues a turn has not used what they used. */
  readonly earlierEntries: number;
  /** The transcript rows that the run started with. */
  readonly rows: readonly TranscriptRow[];
  /** The rows that were written when the run started. The transcript does not contain them yet. */
  readonly written: readonly TranscriptRow[];
  /** A snapshot of the session, taken at some row of the transcript. */
  readonly state: SessionState | undefined;
  /** The agent's space, goals, memories and plans when the run started. */
  readonly situation: Situation;
  /** Set if the thread is a fork. */
  readonly fork?: ActiveFork | undefined;
  /** Approvals and denials for calls of earlier runs, which came with this run's events. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** True if another worker started the run: it died, stalled or was stopped. */
  readonly isTakenOver: boolean;
  /** The mode that was chosen for it. Null if it was not chosen yet, or the agent has no modes. */
  readonly mode: string | null;
  /** The person for whom it works, if there is one. */
  readonly entityId: string | null;
  /** True if a cancel was requested before this worker took the run over. */
  readonly isCancelRequested: boolean;
  readonly start: RunningState;
}

/** What must be known about a run to end it. */
export interface EndingRun extends Pick<ActiveRun, 'lease' | 'runId' | 'kind' | 'settings' | 'answers' | 'fork'> {
  readonly agent: Omit<ConfiguredAgent, 'setup'>;
}

export interface ConfiguredAgent extends BuiltInAgent {
  readonly tag: string;
  readonly project: { readonly id: string; readonly spend: DaySpendLimits };
  readonly config: AgentConfig;
  readonly limits: AgentLimits;
  /** What is made of the configuration, and shared by runs. */
  readonly setup: RunSetup;
}
