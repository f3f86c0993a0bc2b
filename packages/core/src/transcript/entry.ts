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

/** A turn starts here: its counts start at 0. */
interface TurnEntry {
  readonly kind: 'turn';
}

/** A message from outside the turn: a prompt, or an earlier message. */
interface MessageEntry {
  readonly kind: 'message';
  readonly message: LanguageModelV4Message;
}

/** The model's reply in one step, and the calls it asked for, under our own ids. */
export interface ReplyEntry {
  readonly kind: 'reply';
  readonly step: number;
  readonly content: AssistantContent;
  readonly calls: readonly RequestedCall[];
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The provider that assigned the ids of its calls. */
  readonly provider?: string;
  /** The provider's name of the model. */
  readonly model?: string;
  /** When the model was first asked, when the reply was complete, and how many requests it took. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly attempts?: number;
  /** What the provider said about the request, e.g. that it does not support a setting. */
  readonly warnings?: readonly string[];
  /** Set if system messages after the first were sent as user messages, because the provider refuses them. */
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
  /** The provider's id of the call: it may repeat, or be missing. */
  readonly providerCallId?: string;
  /** The result, if the provider ran the call itself. */
  readonly provided?: { readonly result: unknown; readonly isError: boolean };
}

/** Written before a tool with outside effects runs: if there is no end, its outcome is unknown. */
export interface StartedEntry {
  readonly kind: 'started';
  readonly callId: string;
  /** The answer that allowed it to run, if it needed one: it holds after a crash too. */
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
  /** The condensing slot of its result, if the tool has one: a newer result of the slot replaces an older one. */
  readonly slot?: string;
  /** The result of a nested turn that also ended the surrounding turn. */
  readonly endsTurn?: EndedInside;
  /** True if the turn had continued without it: the view adds a separate message at this point. */
  readonly late?: true;
  /** True if another message tells the model how the call ended: then a late end adds no message. */
  readonly told?: true;
}

/** The result of the turn inside a call. */
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

/** The point to which a rewind of this turn goes back. */
interface CheckpointEntry {
  readonly kind: 'checkpoint';
}

/** Written before a rewind undoes a call's outside effect: without a rewind entry, it may have been undone or not. */
interface CompensatingEntry {
  readonly kind: 'compensating';
  readonly callId: string;
}

/** The view goes back to the checkpoint and continues with this message. */
interface RewindEntry {
  readonly kind: 'rewind';
  readonly callId: string;
  readonly text: string;
  /** What could not be undone. A later rewind to the same point must report it again. */
  readonly remaining: readonly string[];
}

interface StopEntry {
  readonly kind: 'stop';
  readonly stop: Stop;
}
