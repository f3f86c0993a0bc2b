import type { Entry } from '@lastcall/core';
import { type Cut, cutAfterFirstStep, cutBeforeNewest, ownStarts, waitingCalls, withoutRewound } from './cycles.ts';
import { estimateEntries } from './estimate-tokens.ts';
import { clipEntries, referToLargest } from './shrink-entries.ts';
import { type Summarise, summariseCycles } from './summarise-cycles.ts';
import { toSummaryEntries } from './summary-frame.ts';
import type { Compaction } from './transcript-row.ts';

export interface CompactOptions {
  /** A thread's transcript, best between two cycles. */
  readonly entries: readonly Entry[];
  readonly budgetTokens: number;
  /** The agent's own unguessable id, for the frame of the summary. */
  readonly tag: string;
  readonly summarise: Summarise;
}

/** Of the budget: what a summary gets at least, and what it may take where there is room. */
const LEAST_SHARE = 0.1;
const MOST_SHARE = 0.25;

/**
 * What a thread goes on with when its transcript is over its budget: a summary of the older cycles, the calls that still wait for
 * an answer, and the newest cycle, whole if it fits. Undefined: it is within its budget. The transcript itself is not changed.
 */
export async function compact(options: CompactOptions): Promise<Compaction | undefined> {
  const { entries, budgetTokens, tag, summarise } = options;
  if (estimateEntries(entries) <= budgetTokens) return undefined;
  const { older, waiting, newest } = layOut(entries, budgetTokens);
  const carriedIds = new Set(
    waiting.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [])),
  );
  const lines = await summariseCycles({
    entries: older,
    isCarried: (callId) => carriedIds.has(callId),
    tag,
    budgetTokens: Math.min(budgetTokens * MOST_SHARE, budgetTokens - estimateEntries([...waiting, ...newest])),
    readTokens: budgetTokens,
    summarise,
  });
  return {
    summary: lines.join('\n'),
    carried: [...toSummaryEntries(lines, tag), ...waiting, ...ownStarts(newest, carriedIds)],
  };
}

interface Layout extends Cut {
  readonly waiting: readonly Entry[];
}

/** What of a piece may be shown, from what hurts least to what is only better than nothing. */
const CLIPS = [4_000, 1_500, 500, 150, 60];

/**
 * What is summarised and what is carried. Where the newest cycle does not fit, its largest outputs become references; then what it
 * shows is clipped; and at last its first steps are summarised too.
 */
function layOut(entries: readonly Entry[], budgetTokens: number): Layout {
  const cut = cutBeforeNewest(entries);
  const waiting = waitingCalls(cut);
  const room = budgetTokens * (cut.older.length === 0 ? 1 : 1 - LEAST_SHARE);
  const fits = (carried: readonly Entry[]): boolean => estimateEntries(carried) <= room;
  const newest = referToLargest(cut.newest, (some) => fits([...waiting, ...some]));
  if (fits([...waiting, ...newest])) return { ...cut, waiting, newest };
  const shown = withoutRewound(newest);
  for (const characters of CLIPS) {
    const clipped = { waiting: clipEntries(waiting, characters), newest: clipEntries(shown, characters) };
    if (fits([...clipped.waiting, ...clipped.newest])) return { older: cut.older, ...clipped };
  }
  return fold({ older: cut.older, newest: shown }, budgetTokens * (1 - LEAST_SHARE));
}

function fold(from: Cut, room: number): Layout {
  const least = CLIPS.at(-1) ?? 0;
  for (let cut = from; ; ) {
    const waiting = clipEntries(waitingCalls(cut), least);
    const newest = clipEntries(cut.newest, least);
    const next = cutAfterFirstStep(cut);
    // Calls that wait or are under way are carried whatever they take.
    if (next === undefined || estimateEntries([...waiting, ...newest]) <= room)
      return { older: cut.older, waiting, newest };
    cut = next;
  }
}
