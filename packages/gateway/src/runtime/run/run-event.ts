import type { Entry, Settlement, Stop, Usage } from '@lastcall/core';
import type { RequestText } from '../../domain/runs/stored-request.ts';
import type { TranscriptRow } from '../../domain/transcript/load-transcript.ts';
import type { Json } from '../../ports/store/schema/tables.ts';
import type { Waiting } from '../lease/release-thread.ts';
import type { HeldRun } from './held-run.ts';
import type { RunResponse } from './run-response.ts';
import type { ShownCall } from './run-state.ts';
import type { SettlementJson } from './settlement-json.ts';

/** What happens in an open run, with all data that a decision about it needs. */
export type RunEvent =
  /** The model is called. From the second attempt on, its last reply was interrupted. */
  | { readonly type: 'step-started'; readonly step: number; readonly attempt: number; readonly by?: string | undefined }
  /**
   * `draftId`: the id that the text has if a space sees it as a draft. `by`: the instance of a machine that wrote it. `isOfWorker`: it never
   * talks with the user.
   */
  | {
      readonly type: 'text-written';
      readonly step: number;
      readonly text: string;
      readonly draftId: string;
      readonly by?: string | undefined;
      readonly isOfWorker?: boolean | undefined;
    }
  | {
      readonly type: 'reasoning-written';
      readonly step: number;
      readonly text: string;
      readonly isOfWorker?: boolean | undefined;
    }
  /** The model began to write a call. `by`: the instance of a machine that it writes for. */
  | {
      readonly type: 'input-started';
      readonly callId: string;
      readonly toolName: string;
      readonly by?: string | undefined;
    }
  /** The model wrote more of a call. `text` is the part that belongs to the text of a message. */
  | { readonly type: 'input-extended'; readonly callId: string; readonly delta: string; readonly text: string }
  /** A call begins to run. */
  | { readonly type: 'call-began'; readonly callId: string; readonly toolName: string; readonly input: unknown }
  | { readonly type: 'progress-reported'; readonly callId: string; readonly value: unknown }
  /** The model was reminded to call a tool. */
  | { readonly type: 'nudged'; readonly step: number; readonly text: string }
  /** The turn went back to its checkpoint. */
  | { readonly type: 'rewound'; readonly step: number; readonly reason: string; readonly guidance: string }
  | { readonly type: 'step-ended'; readonly step: number; readonly usage: Usage }
  | {
      readonly type: 'entry-appended';
      readonly entry: Entry;
      readonly payload: Json;
      /** Texts that the entry refers to and that are not stored yet. */
      readonly texts?: readonly RequestText[] | undefined;
    }
  | CallStarted
  | { readonly type: 'card-refused'; readonly callId: string; readonly spaceId: string }
  | CallEnded
  | CallsRecovered
  | TurnStopped
  /** The transaction that ended the run was committed. */
  | {
      readonly type: 'run-closed';
      readonly as: 'completed' | 'cancelled';
      readonly thread: 'released' | 'held';
      /** The events that wait for the thread, if it was released. */
      readonly waiting: Waiting;
      /** `unknown`: its messages were removed. */
      readonly rows: readonly TranscriptRow[] | 'unknown';
    };

/** A visible call starts in a space. */
export interface CallStarted {
  readonly type: 'call-started';
  readonly callId: string;
  readonly toolName: string;
  readonly spaceId: string;
  readonly input: unknown;
  /** The input as the model wrote it. */
  readonly rawInput: string;
}

/** A call was settled, or waits for an answer. */
export interface CallEnded {
  readonly type: 'call-ended';
  /** The settlement as plain data. */
  readonly settlement: Settlement;
  readonly json: SettlementJson;
  readonly rawInput: string;
  readonly hasStagedWrites: boolean;
  /** True if the end is part of another row: a machine cancels calls together with the call that made their instance go. */
  readonly isInside?: boolean;
  /** True for a call of an earlier run, which cannot end this one. */
  readonly isLate?: boolean;
}

/** Calls of the run that another worker had shown, or a card that an approval left running. */
export interface CallsRecovered {
  readonly type: 'calls-recovered';
  readonly cards: readonly string[];
  readonly shown: readonly ShownCall[];
  /** Calls of an interrupted reply. The model is called again and gives new ids. */
  readonly lost: readonly ShownCall[];
}

export interface TurnStopped {
  readonly type: 'turn-stopped';
  readonly stop: Stop;
  readonly payload: Json;
  readonly usage: Usage;
  /** The output of the tool that ended the turn, if one did. */
  readonly response?: RunResponse | undefined;
  /** The text that ended the turn, if one did, and the id that it has if it is posted. */
  readonly reply?: { readonly text: string; readonly messageId: string } | undefined;
  /** True if the transcript is compacted before the thread is released. */
  readonly isOverBudget: boolean;
  /** Set if a spend limit of the day stopped the run. */
  readonly held?: HeldRun | undefined;
}
