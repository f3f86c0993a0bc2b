import { parseFrame } from '../../src/domain/frame.ts';
import type { InboxEvent } from '../../src/domain/inbox/inbox-event.ts';
import type { InboxFrame, InboxLine, WaitingEvent } from '../../src/domain/inbox/render-inbox.ts';

/** An inbox read back from its stored form. */
export function storedInbox(text: string, tag = 'hidden'): (InboxFrame & { events: WaitingEvent[] }) | undefined {
  const frame = parseFrame(text, 'inbox', tag);
  if (frame === undefined) return undefined;
  const { run = 0, now = '' } = frame.attributes ?? {};
  const events = (frame.lines as InboxLine[]).map(({ event, type, at, attempt = 1, data }) => ({
    eventId: event,
    at: Date.parse(at),
    attempt,
    event: { type, ...data } as InboxEvent,
  }));
  return { run: Number(run), now: Date.parse(String(now)), events };
}
