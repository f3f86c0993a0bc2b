import { renderFrame } from '../frame.ts';
import type { InboxEvent } from './inbox-event.ts';

/** An event as a run took it from the inbox. */
export interface WaitingEvent {
  readonly eventId: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
  /** Counts from 1. A higher number means that an earlier run with the event failed. */
  readonly attempt: number;
  /** True if an earlier run took it and was stopped by a spend limit: the transcript has it already. */
  readonly isShownBefore?: boolean;
  readonly event: InboxEvent;
}

export interface InboxFrame {
  readonly run: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The name of the agent. */
  readonly you?: string;
  /** True if it comes from the same place as the inbox before it: see inbox-place.ts. */
  readonly isContinued?: boolean;
}

/**
 * Renders a batch of events as the text of one user message: one JSON object per line, in a frame that no content can imitate. No
 * message can add an event.
 */
export function renderInbox(
  events: readonly WaitingEvent[],
  { run, now, you, isContinued = false }: InboxFrame,
): string {
  const attributes = {
    run,
    now: new Date(now).toISOString(),
    // An attribute cannot hold quotation marks and tags, and a name can.
    ...(you === undefined ? {} : { you: encodeURIComponent(you.toWellFormed()) }),
    ...(isContinued ? { continues: 'true' } : {}),
  };
  return renderFrame({ name: 'inbox', attributes, lines: events.map(toLine) });
}

/** One line of an inbox. */
export interface InboxLine {
  readonly event: string;
  readonly type: InboxEvent['type'];
  readonly source: string;
  readonly at: string;
  readonly attempt?: number;
  readonly again?: true;
  readonly data: Readonly<Record<string, unknown>>;
}

function toLine({ eventId, at, attempt, isShownBefore = false, event }: WaitingEvent): InboxLine {
  const { type, ...data } = event;
  const retry = { ...(attempt > 1 ? { attempt } : {}), ...(isShownBefore ? { again: true as const } : {}) };
  return { event: eventId, type, source: sourceOf(event), at: new Date(at).toISOString(), ...retry, data };
}

function sourceOf(event: InboxEvent): string {
  switch (event.type) {
    case 'space_message':
      return `${event.from.kind} ${event.from.entityId}`;
    case 'tool_result':
      return `tool ${event.toolName}`;
    case 'plan':
      return `plan ${event.key}`;
    case 'service':
      return `service ${event.source}`;
    case 'chat':
      return `chat ${event.runId}`;
    case 'command':
      return `command ${event.name}`;
  }
}
