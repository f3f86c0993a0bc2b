import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Attachment } from '../artifacts/attachment.ts';
import type { TurnSettings } from '../conversations/turn-settings.ts';

/**
 * An event that waits for an agent or a conversation, as `inbox_events.payload` stores it: JSON that can be understood without any
 * transcript.
 */
export type InboxEvent = SpaceMessageEvent | ToolResultEvent | PlanEvent | ServiceEvent | ChatEvent | CommandEvent;

export interface SpaceMessageEvent {
  readonly type: 'space_message';
  readonly messageId: string;
  /** The number of the message in its space. Missing in events of earlier versions, as are the other numbers. */
  readonly seq?: number;
  readonly spaceId: string;
  readonly spaceName: string;
  /** The number by which the agent knows the space. */
  readonly spaceNumber?: number;
  readonly from: { readonly entityId: string; readonly name: string; readonly kind: EntityKind };
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  /** The message that this one replies to. */
  readonly replyTo?: string;
  readonly replyToSeq?: number;
}

export type EntityKind = 'human' | 'agent' | 'service';

/**
 * The answer to a waiting call. It contains the call itself, so that the agent understands it even after compaction.
 */
export interface ToolResultEvent {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly outcome: ToolResultOutcome;
  /** Who answered. Missing if the call expired. */
  readonly resolvedBy?: { readonly entityId: string; readonly name: string };
}

export type ToolResultOutcome =
  | { readonly status: 'ok'; readonly value: unknown }
  | { readonly status: 'error'; readonly message: string }
  | { readonly status: 'expired' }
  /** `input` is set if the approver changed it. */
  | { readonly status: 'approved'; readonly input?: unknown }
  | { readonly status: 'denied'; readonly reason: string }
  /**
   * A question of the call was answered, and the call continues. The answer is for the tool and not for the model. `round` is the
   * number of the question, counted from 1.
   */
  | { readonly status: 'answered'; readonly round: number };

interface PlanEvent {
  readonly type: 'plan';
  readonly planId: string;
  readonly key: string;
  readonly name: string;
  readonly instruction: string;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  /** True if the plan fires late, because no gateway ran at its time. */
  readonly late?: true;
}

interface ServiceEvent {
  readonly type: 'service';
  /** Who pushed it. */
  readonly source: string;
  readonly name: string;
  readonly data: unknown;
}

/** A request for a turn of a conversation. */
export interface ChatEvent {
  readonly type: 'chat';
  /** The id that its run will have. The client that sent the request waits for this run. */
  readonly runId: string;
  /** The entity that sent it, or on whose behalf a key did. */
  readonly entityId?: string;
  /** Messages that are added before the model is called. */
  readonly messages: readonly LanguageModelV4Message[];
  /** True if it contains answers to waiting calls: then a suspended turn continues, and no new turn begins. */
  readonly isAnswer?: true;
  /** True for the first run of a fork: it continues the turn of the original. */
  readonly isFork?: true;
  readonly settings: TurnSettings;
}

/** A command to the machine of an agent or a conversation. It runs before the machine's next step. */
interface CommandEvent {
  readonly type: 'command';
  readonly name: string;
  readonly input: unknown;
  /** The instance that it is for. Default: the nearest that has such a command. */
  readonly instanceId?: string;
  /** True if it has run, in a run that stopped after it: the machine goes on without running it again. */
  readonly hasRun?: true;
}

/**
 * The order of a batch: 0 people, 1 what the agent itself waits for, 2 other agents. Events of the same priority come
 * in the order of arrival.
 */
export type Priority = 0 | 1 | 2;

export function priorityOf(event: InboxEvent): Priority {
  if (event.type === 'chat' || event.type === 'command') return 0;
  return event.type === 'space_message' ? PRIORITY_OF_SENDER[event.from.kind] : 1;
}

// Agents come last, so that two agents that talk to each other never keep a person waiting.
const PRIORITY_OF_SENDER: Readonly<Record<EntityKind, Priority>> = { human: 0, service: 1, agent: 2 };
