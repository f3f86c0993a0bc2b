import type {
  Answer,
  Changes,
  Run,
  RunEntry,
  Settlement,
  StoryWait,
  TranscriptEntry,
  Usage,
} from '../wire.generated.ts';
import type { Arrival } from './arrivals.ts';
import type { CallStatus } from './call-status.ts';
import type { Origin } from './machine-steps.ts';

export type EntryOf<K extends TranscriptEntry['kind']> = Extract<TranscriptEntry, { kind: K }>;
type Takeover = NonNullable<Run['takeovers']>[number];

/** An attempt of a call whose worker died or stalled. The next attempt has the same idempotency key. */
export interface LostAttempt {
  readonly startedAt: number;
  readonly lostAt: number;
  readonly worker: string | undefined;
}

/** A call in the timeline, whether it ran or not. */
export interface CallRow {
  readonly kind: 'call';
  readonly key: string;
  readonly callId: string;
  /** The run in which the row is. */
  readonly runId: string;
  readonly toolName: string;
  /** Undefined if an earlier run asked for it, and its answer came now. */
  readonly step: number | undefined;
  /** The instance that asked for it, if the agent is a machine. */
  readonly origin: Origin | undefined;
  /** Its place in the reply, from 1. */
  readonly number: number | undefined;
  /** The arguments as the model wrote them. */
  readonly asked: string | undefined;
  readonly outcome: CallStatus;
  readonly settlement: Settlement | undefined;
  /** When it ended, if it waited when the run ended and ended in a later one. */
  readonly laterEndAt: number | undefined;
  /** How its wait began, if it waited. */
  readonly wait: Settlement | undefined;
  readonly answer: Answer | undefined;
  readonly changes: Changes | undefined;
  /** What the sub-agent of the call did, and the sub-agents that it called. Undefined if the call ran none. */
  readonly subAgents: RunEntry['subAgents'];
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** How often it was started: more than once after a takeover. */
  readonly starts: number;
  /** The attempts before the last one: when they began, and when another worker found that they were lost. */
  readonly lostAttempts: readonly LostAttempt[];
  /** True if its output is the response of the run. */
  readonly isResponse: boolean;
  /** True if the model does not see it any more. */
  readonly isTrimmed: boolean;
  /** Its place among calls that ran in parallel. */
  readonly bracket: 'first' | 'middle' | 'last' | undefined;
  /** The numbers of the entries with which the call first appeared and ended. */
  readonly seq: number;
  readonly endSeq: number | undefined;
  /** The number of the entry with which it last began to wait. */
  readonly waitSeq: number | undefined;
}

export interface StepRow {
  readonly kind: 'step';
  readonly key: string;
  readonly runId: string;
  /** Counted through the run, also over the instances of a machine. */
  readonly step: number;
  /** The instance that replied, if the agent is a machine. */
  readonly origin: Origin | undefined;
  readonly text: string;
  readonly usage: Usage;
  /** Undefined if the gateway has no price for the model. */
  readonly cost: number | undefined;
  readonly model: string | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly attempts: number;
  readonly finishReason: EntryOf<'reply'>['finishReason'];
  readonly calls: number;
  readonly seq: number;
}

/** Everything else that happened: a line of words. */
export type LineRow =
  | {
      readonly kind: 'arrival';
      readonly key: string;
      readonly seq: number;
      readonly arrival: Arrival;
      readonly at: number;
    }
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly seq: number;
      readonly role: string;
      readonly text: string;
      /** The instance that was told, if the agent is a machine. */
      readonly origin: Origin | undefined;
      readonly at: number;
    }
  | {
      readonly kind: 'takeover';
      readonly key: string;
      readonly seq: number;
      readonly takeover: Takeover;
      readonly repeated: number;
      readonly at: number;
    }
  | {
      readonly kind: 'nudge';
      readonly key: string;
      readonly seq: number;
      readonly why: EntryOf<'nudge'>['why'];
      readonly text: string;
      readonly at: number;
    }
  | {
      readonly kind: 'rewind';
      readonly key: string;
      readonly seq: number;
      readonly text: string;
      readonly remaining: readonly string[];
      readonly at: number;
    }
  | {
      readonly kind: 'trimmed';
      readonly key: string;
      readonly seq: number;
      readonly step: number;
      readonly hidden: number;
      readonly at: number;
    }
  /** A command to the machine has ended. */
  | {
      readonly kind: 'command';
      readonly key: string;
      readonly seq: number;
      readonly name: string;
      /** Why it failed. Undefined if it ran. */
      readonly error: string | undefined;
      readonly at: number;
    }
  | { readonly kind: 'summary'; readonly key: string; readonly seq: number; readonly text: string; readonly at: number }
  /** The model is being asked now. */
  | { readonly kind: 'asking'; readonly key: string; readonly seq: number; readonly at: number }
  | { readonly kind: 'stop'; readonly key: string; readonly seq: number; readonly run: Run; readonly at: number }
  /** A further run of the task begins. */
  | { readonly kind: 'run'; readonly key: string; readonly seq: number; readonly run: Run; readonly at: number }
  /** A call waited, or waits, for an answer. */
  | {
      readonly kind: 'wait';
      readonly key: string;
      readonly seq: number;
      readonly wait: StoryWait;
      readonly at: number;
    };

export type TimelineRow = CallRow | StepRow | LineRow;

export interface Timeline {
  readonly rows: readonly TimelineRow[];
  readonly steps: number;
}
