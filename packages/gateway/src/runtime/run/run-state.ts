import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import type { Waiting } from '../lease/release-thread.ts';
import type { AgentPosition } from '../tools/built-in-context.ts';

/**
 * The state of a run. It is immutable: `decide` returns the next state. It may be ahead of the store by the writes
 * that are still buffered. If such a write fails, the state is discarded, and the run continues from
 * what is stored.
 */
export type RunState = RunningState | EndedState;

export interface RunningState extends AgentPosition {
  readonly status: 'running';
  /** The number of the next transcript row. */
  readonly nextSeq: number;
  /** True after a call of `enter_space` in the same reply: later calls are shown once it is known which space they go to. */
  readonly isSpaceUndecided: boolean;
  /** The ids of the calls that have an open card. */
  readonly cards: ReadonlySet<string>;
  /** The calls that a space has seen start and not end. */
  readonly shown: ReadonlyMap<string, ShownCall>;
  /** The call of `shown` whose text grew last, with all of its text. In `shown` its text may be shorter. */
  readonly growing: ShownCall | null;
  /** The space in which text that ends the run is posted. Null if it stays private. */
  readonly replyIn: string | null;
  /** True once a call has begun to wait, or if another worker ran the first part, in which one may have. */
  readonly mayWait: boolean;
}

/** A call that a space has seen start: while the model wrote it, or when it began to run. */
export interface ShownCall {
  readonly callId: string;
  readonly kind: 'message' | 'tool';
  /** The space is fixed when the call becomes visible: entering another space later does not change it. */
  readonly spaceId: string;
  /** The part of a message's text or a tool's input that was shown so far. */
  readonly shownText: string;
  /** The instance of a machine whose model writes it. Others write at the same time. */
  readonly by?: string | undefined;
  /** True for the draft of a reply: text of the model that is not part of a call. */
  readonly isReply?: true;
}

/** The run has ended, and its end is stored. */
export interface EndedState {
  readonly status: 'ended';
  readonly as: 'completed' | 'failed' | 'cancelled';
  /** `released`: the thread was released together with the end of the run. */
  readonly thread: 'released' | 'held';
  /** The events that wait for the thread, if it was released. */
  readonly waiting: Waiting;
  /** All rows, if the end of the run was the last write. Otherwise the stored transcript may hold more. */
  readonly transcript: readonly TranscriptRow[] | 'unknown';
}

export function startState(
  start: AgentPosition & Pick<RunningState, 'nextSeq'> & Partial<Pick<RunningState, 'replyIn' | 'mayWait'>>,
): RunningState {
  return {
    replyIn: null,
    mayWait: false,
    ...start,
    status: 'running',
    isSpaceUndecided: false,
    cards: new Set(),
    shown: new Map(),
    growing: null,
  };
}
