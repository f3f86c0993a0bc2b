import type { Entry } from '@lastcall/core';
import { renderFrame } from '../inbox/frame.ts';
import { toCharacters, toTokens } from './estimate-tokens.ts';
import { fitLines } from './fit-lines.ts';
import { type HistoryItem, historyItems } from './history-item.ts';
import { summariseByRule } from './rule-summary.ts';
import { readSummary, summaryLength } from './summary-frame.ts';

/**
 * Asks a model for a summary of at most so many tokens. The text is data, one JSON value a line, in a frame. May reject, and
 * may give nothing or too much: then the summary is made by rule.
 */
export type Summarise = (text: string, budgetTokens: number) => Promise<string>;

export interface SummaryOptions {
  readonly entries: readonly Entry[];
  /** Calls that are carried as they are need no mention. */
  readonly isCarried: (callId: string) => boolean;
  readonly tag: string;
  readonly budgetTokens: number;
  /** What of the text a model can read at once. */
  readonly readTokens: number;
  readonly summarise: Summarise;
}

/** The lines of a summary within its budget. What an earlier summary said is kept as it is as long as it takes at most half. */
export async function summariseCycles(options: SummaryOptions): Promise<readonly string[]> {
  const { entries, isCarried, tag, budgetTokens } = options;
  const earlier = entries.flatMap((entry) => readSummary(entry, tag) ?? []);
  const rest = entries.filter((entry) => readSummary(entry, tag) === undefined);
  const happenings = historyItems(rest, isCarried);
  const room = toCharacters(budgetTokens);
  const fits = (lines: readonly string[]): boolean => summaryLength(lines, tag) <= room;
  if (happenings.length === 0) return fitLines(earlier, fits);
  const isKept = 2 * summaryLength(earlier, tag) <= room;
  const told = isKept ? happenings : [...earlier.map(toHappening), ...happenings];
  const kept = isKept ? earlier : [];
  const budget = toTokens(room - summaryLength(kept, tag));
  const asked = await ask(options, told, budget);
  if (asked.length > 0 && fits([...kept, ...asked])) return [...kept, ...asked];
  return byRule({ earlier, happenings, tag, room });
}

function toHappening(line: string): HistoryItem {
  return { said: 'assistant', text: line };
}

/** Empty where there is no answer to be had. */
async function ask(
  { tag, readTokens, summarise }: SummaryOptions,
  happenings: readonly HistoryItem[],
  budgetTokens: number,
): Promise<readonly string[]> {
  const render = (lines: readonly string[]): string => renderFrame({ name: 'transcript', tag, lines });
  const lines = fitLines(
    happenings.map((happening) => JSON.stringify(happening)),
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

interface ByRule {
  readonly earlier: readonly string[];
  readonly happenings: readonly HistoryItem[];
  readonly tag: string;
  readonly room: number;
}

/** Half for what was known before, or what the new needs not. */
function byRule({ earlier, happenings, tag, room }: ByRule): readonly string[] {
  const lines = summariseByRule(happenings, tag);
  const share = Math.max(Math.floor(room / 2), room - summaryLength(lines, tag));
  const kept = fitLines(earlier, (some) => summaryLength(some, tag) <= share);
  return [...kept, ...fitLines(lines, (some) => summaryLength([...kept, ...some], tag) <= room)];
}
