import { hideTagIn } from '../../telemetry/hide-tag.ts';
import { parseFrame } from '../frame.ts';

/**
 * Converts what is stored of an agent for people to read: frames become the events and lines that they contain, and the tag is
 * hidden everywhere. A person who knew the tag could write text that reads like an event.
 */
export function toReadable<T>(value: T, tag: string): T {
  return hideTagIn(showFrames(value, tag), tag) as T;
}

function showFrames(value: unknown, tag: string): unknown {
  if (Array.isArray(value)) return value.map((item) => showFrames(item, tag));
  if (typeof value !== 'object' || value === null || value instanceof URL) return value;
  const { role, content } = value as { role?: unknown; content?: unknown };
  if (role === 'user' && Array.isArray(content))
    return { ...value, content: content.map((part) => toReadablePart(part, tag)) };
  const { kind, message } = value as { kind?: unknown; message?: unknown };
  return kind === 'message' ? { ...value, message: showFrames(message, tag) } : value;
}

/** Converts a part that is one of our frames. Any other stays unchanged. */
function toReadablePart(part: unknown, tag: string): unknown {
  const { type, text } = part as { type?: unknown; text?: unknown };
  if (type !== 'text' || typeof text !== 'string') return part;
  const inbox = parseFrame(text, 'inbox', tag);
  if (inbox !== undefined) {
    // Older rows call it `cycle`.
    const { cycle = 0, run = cycle, now = '', leftout } = inbox.attributes ?? {};
    const clipped = leftout === undefined ? {} : { leftOut: Number(leftout) };
    return { type: 'inbox', run: Number(run), now, ...clipped, events: inbox.lines };
  }
  const summary = parseFrame(text, 'summary', tag);
  return summary === undefined ? part : { type: 'summary', lines: summary.lines };
}
