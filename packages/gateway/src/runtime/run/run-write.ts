import type { Entry, Stop, Usage } from '@lastcall/core';
import type { CallStatus, StoredStatus } from '../../domain/calls/call-status.ts';
import type { OpenedWait } from '../../domain/calls/open-wait.ts';
import type { GrantUse } from '../../domain/grants/use-grant.ts';
import type { RequestText } from '../../domain/runs/stored-request.ts';
import type { NewUsage } from '../../domain/usage/count-usage.ts';
import type { Json, MessageStatus } from '../../ports/store/schema/tables.ts';
import type { HeldRun } from './held-run.ts';

/** One write of a run's transaction. It is plain data, because it is applied again if the store was unavailable. */
export type Write =
  | EntryWrite
  /** A text that a reply refers to. */
  | ({ readonly kind: 'request-text' } & RequestText)
  | CallWrite
  /** Looks for a grant that covers a call, and stores which one does. */
  | { readonly kind: 'use-grant'; readonly use: GrantUse }
  /** Applies the writes that the call's tool staged. Refused once a cancel was accepted. */
  | { readonly kind: 'staged-writes'; readonly callId: string }
  /** Restores the files as they were at the checkpoint of the turn, or forgets how they were. */
  | { readonly kind: 'files'; readonly act: 'undo' | 'forget-undo' }
  | SpaceEvent
  | LiveEvent
  /** The end of a call, as an event on the run's stream. */
  | { readonly kind: 'run-event'; readonly type: string; readonly callId: string; readonly json: Json }
  | OpenCard
  | {
      readonly kind: 'update-card';
      readonly callId: string;
      readonly status: MessageStatus;
      readonly callStatus?: CallStatus;
      readonly output: Json | undefined;
      /** True if the call ended the run, so that its card shows the response of the run. */
      readonly isResponse?: boolean;
    }
  | WaitWrite
  /** The call waits no longer, if it did: an answer that comes now is late. */
  | { readonly kind: 'end-wait'; readonly callId: string }
  | PostResponse
  | PostReply
  /** Requests to models, which are counted with the replies. */
  | { readonly kind: 'count-usage'; readonly usage: readonly NewUsage[] }
  | CloseRunWrite
  | { readonly kind: 'release-thread' };

/** A row of the transcript. */
export interface EntryWrite {
  readonly kind: 'entry';
  readonly seq: number;
  readonly entry: string;
  readonly payload: Json;
}

type RequestedCall = Extract<Entry, { kind: 'reply' }>['calls'][number];

/** A change of a row of `calls`. */
export type CallWrite =
  | { readonly kind: 'call-planned'; readonly call: RequestedCall; readonly step: number; readonly index: number }
  | { readonly kind: 'call-started'; readonly callId: string }
  | {
      readonly kind: 'call-ended';
      readonly callId: string;
      readonly status: 'settled' | 'pending';
      readonly outcome: Json;
      readonly outcomeStatus: StoredStatus;
    };

/** An event on the stream of a space. */
export interface SpaceEvent {
  readonly kind: 'space-event';
  readonly spaceId: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** An event on the run's stream during the turn. */
export interface LiveEvent {
  readonly kind: 'live-event';
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

interface Card {
  readonly spaceId: string;
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/**
 * Opens a card. If the agent is no longer in the space, no card is opened, the input is not shown, and the space sees no more of the shown
 * call, which runs.
 */
export interface OpenCard {
  readonly kind: 'open-card';
  readonly card: Card;
  /** The part of the input that the space has not seen. */
  readonly unseenInput: string;
}

/** A call that waits for an answer, with the card that asks for it. */
export interface WaitWrite {
  readonly kind: 'pending-call';
  readonly call: Pick<OpenedWait, 'callId' | 'toolName' | 'kind' | 'input' | 'display' | 'expiresAt'>;
  /** Null if no space sees the call. Then operators may answer it, and those that the tool names. */
  readonly spaceId: string | null;
  /** The input as the model wrote it. Undefined if the space saw the model write it. */
  readonly rawInput: string | undefined;
}

/**
 * Posts the output of the tool that ended the run as the agent's message. If the call has a card, the card shows it, and nothing is
 * posted.
 */
export interface PostResponse {
  readonly kind: 'post-response';
  readonly spaceId: string;
  readonly callId: string;
  readonly toolName: string;
  readonly text: string;
}

/** Posts the text that ended the run as the agent's message. */
export interface PostReply {
  readonly kind: 'post-reply';
  readonly spaceId: string;
  readonly messageId: string;
  readonly text: string;
  /** The part that the space has not seen. Undefined if it has seen no draft of the message. */
  readonly unseen?: string;
}

interface CloseRunWrite {
  readonly kind: 'close-run';
  readonly as: 'completed' | 'cancelled';
  readonly stop: Stop;
  readonly usage: Usage;
  readonly announcedSpaceId: string | null;
  /** True if a call of it may still wait. */
  readonly mayWait: boolean;
  /** Set if a spend limit of the day stopped the run. */
  readonly held?: HeldRun | undefined;
}
