import type { Entry } from '@lastcall/core';
import { withFullInbox } from '../inbox/inbox-place.ts';
import { estimateEntries } from './estimate-tokens.ts';
import { clipEntries, replaceLargestOutputs } from './shrink-entries.ts';
import {
  type SplitRuns,
  splitAfterFirstStep,
  splitBeforeNewest,
  waitingCalls,
  withoutForeignStarts,
  withoutRewound,
} from './split-runs.ts';
import { type Summarise, summariseRuns } from './summarise-runs.ts';
import { toSummaryEntries } from './summary-frame.ts';
import type { Compaction } from './transcript-row.ts';

export interface CompactOptions {
  /** A thread's transcript. Compaction works best between two runs. */
  readonly entries: readonly Entry[];
  readonly budgetTokens: number;
  readonly summarise: Summarise;
  /** Lines that the summary ends with. */
  readonly notes?: readonly string[];
}

/** Shares of the budget: what a summary gets at least, and at most if there is room. */
const MIN_SHARE = 0.1;
const MAX_SHARE = 0.25;
/**
 * What a compaction leaves, if the newest run allows it. Each compaction changes the beginning of all later requests, so that no provider's
 * cache knows them. It should therefore be long until the next.
 */
const TARGET_SHARE = 0.5;

/**
 * Shortens a transcript that is over its budget to a summary of the older runs, the calls that still wait for an
 * answer, and the newest run, complete if it fits. If the newest run is not large, this is half of the budget at most. Returns undefined if the transcript is within its budget. The
 * transcript itself is not changed.
 */
export async function compact(options: CompactOptions): Promise<Compaction | undefined> {
  const { entries, budgetTokens, summarise, notes = [] } = options;
  if (estimateEntries(entries) <= budgetTokens) return undefined;
  const { older, waiting, newest } = splitToFit(entries, budgetTokens);
  const carriedIds = new Set(
    waiting.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [])),
  );
  const summarised = await summariseRuns({
    entries: older,
    isCarried: (callId) => carriedIds.has(callId),
    budgetTokens: summaryBudget(budgetTokens, estimateEntries([...waiting, ...newest])),
    readTokens: budgetTokens,
    summarise,
  });
  const lines = [...summarised, ...notes];
  return {
    summary: lines.join('\n'),
    carried: [...toSummaryEntries(lines), ...waiting, ...withFullInbox(withoutForeignStarts(newest, carriedIds))],
  };
}

function summaryBudget(budgetTokens: number, carriedTokens: number): number {
  const wanted = Math.min(budgetTokens * MAX_SHARE, budgetTokens * TARGET_SHARE - carriedTokens);
  return Math.min(Math.max(wanted, budgetTokens * MIN_SHARE), budgetTokens - carriedTokens);
}

interface Layout extends SplitRuns {
  readonly waiting: readonly Entry[];
}

/** How many characters of each piece are shown. The largest limit that fits is used. */
const CLIPS = [4_000, 1_500, 500, 150, 60];

/**
 * Decides what is summarised and what is carried over. If the newest run does not fit, its largest outputs become references,
 * then its texts are clipped, and finally its first steps are summarised too.
 */
function splitToFit(entries: readonly Entry[], budgetTokens: number): Layout {
  const split = splitBeforeNewest(entries);
  const waiting = waitingCalls(split);
  const room = budgetTokens * (split.older.length === 0 ? 1 : 1 - MIN_SHARE);
  const fits = (carried: readonly Entry[]): boolean => estimateEntries(carried) <= room;
  const newest = replaceLargestOutputs(split.newest, (some) => fits([...waiting, ...some]));
  if (fits([...waiting, ...newest])) return { ...split, waiting, newest };
  const shown = withoutRewound(newest);
  for (const characters of CLIPS) {
    const clipped = { waiting: clipEntries(waiting, characters), newest: clipEntries(shown, characters) };
    if (fits([...clipped.waiting, ...clipped.newest])) return { older: split.older, ...clipped };
  }
  return foldFirstSteps({ older: split.older, newest: shown }, budgetTokens * (1 - MIN_SHARE));
}

function foldFirstSteps(from: SplitRuns, room: number): Layout {
  const least = CLIPS.at(-1) ?? 0;
  for (let split = from; ; ) {
    const waiting = clipEntries(waitingCalls(split), least);
    const newest = clipEntries(split.newest, least);
    const next = splitAfterFirstStep(split);
    // Calls that wait or still run are always carried over, whatever their size.
    if (next === undefined || estimateEntries([...waiting, ...newest]) <= room)
      return { older: split.older, waiting, newest };
    split = next;
  }
}
