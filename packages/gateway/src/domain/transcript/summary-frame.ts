import type { Entry } from '@lastcall/core';
import { parseFrame, renderFrame } from '../frame.ts';
import { userMessage } from './split-runs.ts';

const NAME = 'summary';
const attributes = { of: 'earlier runs' };

/** A summary as the model reads it: a turn with one message, in a frame that no content can imitate. */
export function toSummaryEntries(lines: readonly string[], tag: string): readonly Entry[] {
  if (lines.length === 0) return [];
  return [{ kind: 'turn' }, userMessage(renderFrame({ name: NAME, tag, attributes, lines }))];
}

/** The length in characters of the message that holds these lines. */
export function summaryLength(lines: readonly string[], tag: string): number {
  return lines.length === 0 ? 0 : renderFrame({ name: NAME, tag, attributes, lines }).length;
}

/** Returns the lines of an earlier compaction's summary, if the entry is one. */
export function readSummary(entry: Entry, tag: string): readonly string[] | undefined {
  if (entry.kind !== 'message' || entry.message.role !== 'user') return undefined;
  const [part, ...others] = entry.message.content;
  if (part?.type !== 'text' || others.length > 0) return undefined;
  return parseFrame(part.text, NAME, tag)?.lines.filter((line) => typeof line === 'string');
}
