import { hideTagIn } from '../../telemetry/hide-tag.ts';
import { parseFrame } from '../inbox/frame.ts';

/**
 * What is stored of an agent's mind, for people to read: its frames as the events and lines that they hold, and the id that
 * delimits them nowhere. Whoever knew it could write what reads as an event in another tool's log.
 */
export function readable<T>(value: T, tag: string): T {
  return hideTagIn(showFrames(value, tag), tag) as T;
}

function showFrames(value: unknown, tag: string): unknown {
  if (Array.isArray(value)) return value.map((item) => showFrames(item, tag));
  if (typeof value !== 'object' || value === null || value instanceof URL) return value;
  const { role, content } = value as { role?: unknown; content?: unknown };
  if (role === 'user' && Array.isArray(content))
    return { ...value, content: content.map((part) => toShown(part, tag)) };
  const { kind, message } = value as { kind?: unknown; message?: unknown };
  return kind === 'message' ? { ...value, message: showFrames(message, tag) } : value;
}

/** A part that is a frame of ours; any other stays as it is. */
function toShown(part: unknown, tag: string): unknown {
  const { type, text } = part as { type?: unknown; text?: unknown };
  if (type !== 'text' || typeof text !== 'string') return part;
  const inbox = parseFrame(text, 'inbox', tag);
  if (inbox !== undefined) {
    const { cycle = 0, now = '', leftout } = inbox.attributes ?? {};
    const clipped = leftout === undefined ? {} : { leftOut: Number(leftout) };
    return { type: 'inbox', cycle: Number(cycle), now, ...clipped, events: inbox.lines };
  }
  const summary = parseFrame(text, 'summary', tag);
  return summary === undefined ? part : { type: 'summary', lines: summary.lines };
}
