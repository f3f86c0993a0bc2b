import type { Answer } from '@lastcall/core';
import type { RequestIdentity, StartedTurn } from '../../domain/conversations/turn-requests.ts';
import type { TurnSettings, UserContent } from '../../domain/conversations/turn-settings.ts';
import type { Metadata } from '../../domain/entities/metadata.ts';
import { EVERYTHING, type View } from '../../domain/projects/view.ts';

/** The caller. An entity may use only its own conversations; a key may use all, perhaps on behalf of a person. */
export type TurnCaller =
  | {
      readonly kind: 'key';
      readonly keyId: string;
      readonly entityId?: string | undefined;
      /** What the key can see. Default: everything. */
      readonly view?: View | undefined;
    }
  | { readonly kind: 'entity'; readonly entityId: string };

/** What a caller can see of agents. Of its project, an entity sees those that share a space with it: see may-chat.ts. */
export function viewOfCaller(caller: TurnCaller): View {
  return caller.kind === 'key' ? (caller.view ?? EVERYTHING) : { ofEntity: caller.entityId };
}

export interface TurnRequest {
  readonly caller: TurnCaller;
  readonly conversation: ExistingConversation | NewConversationFor;
  readonly input: TurnInput;
  /**
   * Settings of the run beyond the agent's configuration. `terminating.toolIds` and `tools` are checked, and added to
   * the run.
   */
  readonly settings?: Omit<TurnSettings, 'prompt' | 'aiMessage' | 'call' | 'callerText'>;
  /** The system text that the caller sent. With a key it follows the agent's instructions; an entity's is data: see caller-text.ts. */
  readonly systemText?: string;
  readonly identity?: RequestIdentity | undefined;
  /**
   * True if a new conversation is kept only for this turn and its answers, and deleted sooner than others. Conversations of turns
   * that are not saved are also brief.
   */
  readonly isBrief?: true;
}

interface ExistingConversation {
  readonly contextId: string;
}

interface NewConversationFor {
  /** An agent's id or name. Default: the only agent. */
  readonly agent?: string | undefined;
  /** The caller's id for the new conversation. */
  readonly newId?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** Earlier messages, as the caller sends them. They are used as text only. */
  readonly history?: readonly SaidMessage[] | undefined;
}

export interface SaidMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export type TurnInput =
  /** A person's message. The agent's turn follows. */
  | {
      readonly message: string | UserContent;
      /** Ids of artifacts that the person uploaded. */
      readonly attachments?: readonly string[] | undefined;
    }
  /** A turn of the agent without a message. */
  | { readonly invoke: true }
  /** The agent writes under this instruction, which is not stored as a message. */
  | { readonly prompt: string }
  /** The text is stored as the AI's message. No model is called. */
  | { readonly aiMessage: string }
  /** One call of a registered tool, by its name, in a new conversation. No model is called. */
  | { readonly call: { readonly tool: string; readonly input: unknown } }
  /** Answers to waiting calls of this conversation, by call id. The first answer to a call counts. */
  | { readonly answers: Readonly<Record<string, Answer>> };

export interface AcceptedTurn extends StartedTurn {
  /** True if the same request came before. Then this is its run. */
  readonly isRepeat: boolean;
}
