import type { Entry } from '@lastcall/core';
import { frameMessage, isFrame, parseFrame, renderFrame } from '../frame.ts';

const NAME = 'summary';
const attributes = { of: 'earlier runs' };

/** A summary as the model reads it: a turn with one frame. */
export function toSummaryEntries(lines: readonly string[]): readonly Entry[] {
  if (lines.length === 0) return [];
  return [{ kind: 'turn' }, { kind: 'message', message: frameMessage(renderFrame({ name: NAME, attributes, lines })) }];
}

/** The length in characters of the message that holds these lines. */
export function summaryLength(lines: readonly string[]): number {
  return lines.length === 0 ? 0 : renderFrame({ name: NAME, attributes, lines }).length;
}

/** Returns the lines of an earlier compaction's summary, if the entry is one. */
export function readSummary(entry: Entry): readonly string[] | undefined {
  if (entry.kind !== 'message' || !isFrame(entry.message)) return undefined;
  const [part, ...others] = entry.message.content;
  if (part?.type !== 'text' || others.length > 0) return undefined;
  return parseFrame(part.text, NAME)?.lines.filter((line) => typeof line === 'string');
}
