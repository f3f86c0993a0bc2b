import type { Entry } from '@lastcall/core';
import { renderFrame } from '../frame.ts';
import { toCharacters, toTokens } from './estimate-tokens.ts';
import { fitLines } from './fit-lines.ts';
import { summariseByRule } from './rule-summary.ts';
import { readSummary, summaryLength } from './summary-frame.ts';
import { type TranscriptLine, transcriptLines } from './transcript-line.ts';

/**
 * Asks a model for a summary of at most `budgetTokens`. The text is data in a frame, one JSON value per line. If it
 * rejects, or returns nothing or too much, the summary is made by rules.
 */
export type Summarise = (text: string, budgetTokens: number) => Promise<string>;

export interface SummaryOptions {
  readonly entries: readonly Entry[];
  /** True for calls that are carried over as they are. The summary leaves them out. */
  readonly isCarried: (callId: string) => boolean;
  readonly budgetTokens: number;
  /** How many tokens the model can read at once. */
  readonly readTokens: number;
  readonly summarise: Summarise;
}

/** Returns the lines of a summary within its budget. An earlier summary is kept as it is if it takes at most half. */
export async function summariseRuns(options: SummaryOptions): Promise<readonly string[]> {
  const { entries, isCarried, budgetTokens } = options;
  const earlier = entries.flatMap((entry) => readSummary(entry) ?? []);
  const rest = entries.filter((entry) => readSummary(entry) === undefined);
  const items = transcriptLines(rest, isCarried);
  const room = toCharacters(budgetTokens);
  const fits = (lines: readonly string[]): boolean => summaryLength(lines) <= room;
  if (items.length === 0) return fitLines(earlier, fits);
  const isKept = 2 * summaryLength(earlier) <= room;
  const toSummarise = isKept ? items : [...earlier.map(toTranscriptLine), ...items];
  const kept = isKept ? earlier : [];
  const budget = toTokens(room - summaryLength(kept));
  const summary = await askModel(options, toSummarise, budget);
  if (summary.length > 0 && fits([...kept, ...summary])) return [...kept, ...summary];
  return summariseWithoutModel({ earlier, items, room });
}

function toTranscriptLine(line: string): TranscriptLine {
  return { said: 'assistant', text: line };
}

/** Returns no lines if the model gives no usable answer. */
async function askModel(
  { readTokens, summarise }: SummaryOptions,
  items: readonly TranscriptLine[],
  budgetTokens: number,
): Promise<readonly string[]> {
  const render = (lines: readonly string[]): string => renderFrame({ name: 'transcript', lines });
  const lines = fitLines(
    items.map(({ frame: _, ...item }) => JSON.stringify(item)),
    (some) => toTokens(render(some).length) <= readTokens,
  );
  try {
    const answer: unknown = await summarise(render(lines), budgetTokens);
    return typeof answer === 'string'
      ? answer
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== '')
      : [];
  } catch {
    return [];
  }
}

interface RuleSummaryOptions {
  readonly earlier: readonly string[];
  readonly items: readonly TranscriptLine[];
  readonly room: number;
}

/** Half of the room is for the earlier summary, or more if the new lines need less. */
function summariseWithoutModel({ earlier, items, room }: RuleSummaryOptions): readonly string[] {
  const lines = summariseByRule(items);
  const share = Math.max(Math.floor(room / 2), room - summaryLength(lines));
  const kept = fitLines(earlier, (some) => summaryLength(some) <= share);
  return [...kept, ...fitLines(lines, (some) => summaryLength([...kept, ...some]) <= room)];
}
