import { parseFrame } from '../../domain/frame.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import type { InboxFrame, InboxLine, WaitingEvent } from '../../domain/inbox/render-inbox.ts';

export interface ParsedInbox extends InboxFrame {
  readonly events: readonly WaitingEvent[];
}

/** Parses an inbox as a model is shown it. Returns undefined if it is not an inbox with this tag. */
export function parseInbox(text: string, tag: string): ParsedInbox | undefined {
  const frame = parseFrame(text, 'inbox', tag);
  if (frame === undefined) return undefined;
  // Older rows call it `cycle`.
  const { cycle = '0', run = cycle, now = '' } = frame.attributes ?? {};
  return { run: Number(run), now: Date.parse(String(now)), events: (frame.lines as InboxLine[]).map(toEvent) };
}

function toEvent({ event, type, at, attempt = 1, data }: InboxLine): WaitingEvent {
  return { eventId: event, at: Date.parse(at), attempt, event: { type, ...data } as InboxEvent };
}
