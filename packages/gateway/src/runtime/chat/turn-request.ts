import type { Answer } from '@lastcall/core';
import type { RequestIdentity, StartedTurn } from '../../domain/contexts/turn-requests.ts';
import type { TurnSettings, UserContent } from '../../domain/contexts/turn-settings.ts';
import type { Metadata } from '../../domain/entities/metadata.ts';

/** Who asks. An entity uses its own contexts only; a key uses all, perhaps for a person. */
export type TurnCaller =
  | { readonly kind: 'key'; readonly keyId: string; readonly entityId?: string | undefined }
  | { readonly kind: 'entity'; readonly entityId: string };

export interface TurnRequest {
  readonly caller: TurnCaller;
  readonly context: ExistingContext | NewContextFor;
  readonly input: TurnInput;
  /** What the run does beyond the agent's configuration. `terminating.toolIds` and `tools` are checked, and added to the run. */
  readonly settings?: Omit<TurnSettings, 'prompt' | 'aiMessage' | 'call' | 'callerText'>;
  /** The system text that the caller sent. With a key it follows the agent's instructions; an entity's is data: see caller-text.ts. */
  readonly systemText?: string;
  readonly identity?: RequestIdentity | undefined;
  /** A new context is kept for this turn and its answers, and deleted sooner than others. So are those of turns that are not saved. */
  readonly isBrief?: true;
}

interface ExistingContext {
  readonly contextId: string;
}

interface NewContextFor {
  /** An agent's id or name. Default: the only agent. */
  readonly agent?: string | undefined;
  /** The caller's own id of the new context. */
  readonly newId?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** What was said before, as the caller tells it. It is believed as text, and nothing more. */
  readonly history?: readonly SaidMessage[] | undefined;
}

export interface SaidMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export type TurnInput =
  /** A person's message, and the agent's turn after it. */
  | { readonly message: string | UserContent }
  /** The agent's turn, without a message. */
  | { readonly invoke: true }
  /** The agent writes under this instruction, which is not stored as a message. */
  | { readonly prompt: string }
  /** The text is stored as the AI's message. No model is asked. */
  | { readonly aiMessage: string }
  /** One call of a registered tool, by its name, in a new context. No model is asked. */
  | { readonly call: { readonly tool: string; readonly input: unknown } }
  /** Answers to calls of this context that wait, by call id. The first answer to a call counts. */
  | { readonly answers: Readonly<Record<string, Answer>> };

export interface AcceptedTurn extends StartedTurn {
  /** The same request came before: this is its run. */
  readonly isRepeat: boolean;
}
