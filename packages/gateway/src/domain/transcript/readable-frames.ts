import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { isFrame, parseFrame, withoutMark } from '../frame.ts';

/** Converts messages and entries for people to read: frames become the events and lines that they contain. */
export function toReadable<T>(value: T): T {
  return showFrames(value) as T;
}

function showFrames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(showFrames);
  if (typeof value !== 'object' || value === null || value instanceof URL) return value;
  const { kind, message } = value as { kind?: unknown; message?: unknown };
  if (kind === 'message') return { ...value, message: showFrames(message) };
  return isFrame(value as LanguageModelV4Message) ? toReadableFrame(value as LanguageModelV4Message) : value;
}

function toReadableFrame(message: LanguageModelV4Message): unknown {
  const { content, ...rest } = withoutMark(message);
  return { ...rest, content: (content as readonly unknown[]).map(toReadablePart) };
}

function toReadablePart(part: unknown): unknown {
  const { type, text } = part as { type?: unknown; text?: unknown };
  if (type !== 'text' || typeof text !== 'string') return part;
  const inbox = parseFrame(text, 'inbox');
  if (inbox !== undefined) {
    // Older rows call it `cycle`.
    const { cycle = 0, run = cycle, now = '', leftout } = inbox.attributes ?? {};
    const clipped = leftout === undefined ? {} : { leftOut: Number(leftout) };
    return { type: 'inbox', run: Number(run), now, ...clipped, events: inbox.lines };
  }
  const summary = parseFrame(text, 'summary');
  return summary === undefined ? part : { type: 'summary', lines: summary.lines };
}
