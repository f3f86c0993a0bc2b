import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Usage } from '../model/usage.ts';
import type { Answer } from '../results/answer.ts';
import type { Settlement } from '../results/outcome.ts';
import type { Stop } from './stop.ts';

/** One thing that happened. A transcript is a list of these, and only grows. */
export type Entry =
  | TurnEntry
  | MessageEntry
  | ReplyEntry
  | StartedEntry
  | PendingEntry
  | SettledEntry
  | TrimmedEntry
  | NudgeEntry
  | CheckpointEntry
  | CompensatingEntry
  | RewindEntry
  | StopEntry;

/** A turn begins here: its counts start at 0. */
interface TurnEntry {
  readonly kind: 'turn';
}

/** A message from outside the turn: a prompt, or an earlier message. */
interface MessageEntry {
  readonly kind: 'message';
  readonly message: LanguageModelV4Message;
}

/** What the model replied in one step, and the calls it asked for, under our own ids. */
export interface ReplyEntry {
  readonly kind: 'reply';
  readonly step: number;
  readonly content: AssistantContent;
  readonly calls: readonly RequestedCall[];
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The provider that gave its calls their ids. */
  readonly provider?: string;
  /** The provider's name of the model. */
  readonly model?: string;
  /** When the model was first asked, when the reply was complete, and how often it was asked for it. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly attempts?: number;
  /** Set if system messages after the first were sent as user messages: the provider refuses them. */
  readonly systemAsUser?: true;
}

export type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** A call as the model asked for it. */
export interface RequestedCall {
  readonly callId: string;
  readonly toolName: string;
  /** The arguments as the model wrote them. */
  readonly input: string;
  /** What the provider called it: it may repeat, or be missing. */
  readonly providerCallId?: string;
  /** The provider ran it itself, and this is what it gave. */
  readonly provided?: { readonly result: unknown; readonly isError: boolean };
}

/** Written before a tool with outside effects runs: found without an end, its outcome is unknown. */
export interface StartedEntry {
  readonly kind: 'started';
  readonly callId: string;
  /** What allowed it to run, where somebody had to: it holds after a crash too. */
  readonly answer?: Answer;
}

export interface PendingEntry {
  readonly kind: 'pending';
  readonly settlement: Settlement;
}

export interface SettledEntry {
  readonly kind: 'settled';
  readonly settlement: Settlement;
  /** The answer that settled it, if one did. */
  readonly answer?: Answer;
  /** The condensing slot of its result, where the tool has one: an older result of the slot gives way to it. */
  readonly slot?: string;
  /** A turn inside the call ended the turn around it too, with this. */
  readonly endsTurn?: EndedInside;
  /** The turn had gone on without it: the view tells the model with a message of its own, at this point. */
  readonly late?: true;
}

/** What the turn inside a call gave. */
export interface EndedInside {
  readonly response: string;
  readonly output: unknown;
}

/** The view's assistant message of that step shows only these calls. */
interface TrimmedEntry {
  readonly kind: 'trimmed';
  readonly step: number;
  readonly keep: readonly string[];
}

interface NudgeEntry {
  readonly kind: 'nudge';
  readonly why: 'no-call' | 'length' | 'last-word';
  readonly role: 'system' | 'user';
  readonly text: string;
}

/** The point that a rewind of this turn goes back to. */
interface CheckpointEntry {
  readonly kind: 'checkpoint';
}

/** Written before a rewind undoes what a call did outside: found without a rewind, it may have been undone or not. */
interface CompensatingEntry {
  readonly kind: 'compensating';
  readonly callId: string;
}

/** The view goes back to the checkpoint and on with this message. */
interface RewindEntry {
  readonly kind: 'rewind';
  readonly callId: string;
  readonly text: string;
  /** What could not be taken back. A later rewind to the same point must tell of it again. */
  readonly remaining: readonly string[];
}

interface StopEntry {
  readonly kind: 'stop';
  readonly stop: Stop;
}
