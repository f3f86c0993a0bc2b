import type { Run, RunEntry, StoryWait } from '../wire.generated.ts';
import { arrivalsOf } from './arrivals.ts';
import { type Facts, factsOf, hiddenIn } from './call-facts.ts';
import { callRow } from './call-row.ts';
import { originOf, withRunSteps } from './machine-steps.ts';
import { replyRows } from './reply-rows.ts';
import type { EntryOf, LineRow, Timeline, TimelineRow } from './rows.ts';
import { withTakeovers } from './takeovers.ts';

/** A run, and its transcript. */
export interface WrittenRun {
  readonly run: Run;
  readonly entries: readonly RunEntry[];
}

/** The transcript of a run as rows: steps and their calls in call order, and what happened between them. */
export function toTimeline(run: Run, written: readonly RunEntry[]): Timeline {
  const entries = withRunSteps(written);
  return timelineOf({ run, entries }, factsOf(entries, run.takeovers));
}

/**
 * A task as one timeline, over all its runs. A call has one row, where the model asked for it, also if a later run ended it. What waited
 * follows the run that asked.
 */
export function toStory(runs: readonly WrittenRun[], waits: readonly StoryWait[] = []): Timeline {
  const parts = runs.map(({ run, entries }) => ({ run, entries: withRunSteps(entries) }));
  const { calls, asked, takeovers } = factsOf(
    parts.flatMap(({ entries }) => entries),
    parts.flatMap(({ run }) => run.takeovers ?? []),
  );
  const timelines = parts.map((part) => timelineOf(part, { ...factsOf(part.entries), calls, asked, takeovers }));
  const rows = timelines.flatMap((timeline, index) => {
    const { run, entries } = parts[index] as WrittenRun;
    const seq = entries[0]?.seq ?? 0;
    const begin: LineRow = { kind: 'run', key: `r${run.id}`, seq, run, at: run.createdAt };
    const waited = waits.filter(({ runId }) => runId === run.id);
    return [
      ...(index === 0 ? [] : [begin]),
      ...timeline.rows,
      ...waited.map((wait): LineRow => ({ kind: 'wait', key: `w${wait.callId}`, seq, wait, at: wait.since })),
    ];
  });
  return { rows, steps: timelines.reduce((sum, { steps }) => sum + steps, 0) };
}

function timelineOf({ run, entries }: WrittenRun, facts: Facts): Timeline {
  const rows = entries.flatMap((entry) => rowsOf(entry, facts, run));
  const asking = askingRow(run, rows, entries);
  return {
    rows: withTakeovers(asking === undefined ? rows : [...rows, asking], run, facts),
    steps: rows.filter(({ kind }) => kind === 'step').length,
  };
}

function rowsOf({ seq, at, entry, cost }: RunEntry, facts: Facts, run: Run): readonly TimelineRow[] {
  const base = { key: `e${seq}`, seq, at };
  switch (entry.kind) {
    case 'message':
      return messageRows(entry, base);
    case 'reply':
      return replyRows(entry, { seq, at, cost }, facts, run);
    case 'pending':
    case 'settled':
      return earlierCall(entry, seq, facts, run);
    case 'nudge':
      return [{ kind: 'nudge', ...base, why: entry.why, text: entry.text }];
    case 'rewind':
      return [{ kind: 'rewind', ...base, text: entry.text, remaining: entry.remaining }];
    case 'trimmed':
      return [{ kind: 'trimmed', ...base, step: entry.step, hidden: hiddenIn(entry.step, facts) }];
    case 'compaction':
      return [{ kind: 'summary', ...base, text: entry.summary }];
    case 'command-result':
      return [{ kind: 'command', ...base, name: entry.name, error: entry.error }];
    case 'stop':
      // Each turn of a machine's instance has a stop too: only the last one, which is of no instance, ends the run.
      return entry.thread === undefined ? [{ kind: 'stop', ...base, run }] : [];
    default:
      return [];
  }
}

/** A call that an earlier run asked for: its answer came now, or it asks again. */
function earlierCall(
  entry: EntryOf<'pending' | 'settled'>,
  seq: number,
  facts: Facts,
  run: Run,
): readonly TimelineRow[] {
  const { callId, toolName } = entry.settlement;
  const { settled, pending } = facts.calls.get(callId) ?? {};
  // It has one row: where it was settled, or where it began to wait last.
  const isShown = entry === (settled ?? pending)?.entry;
  if (!isShown || facts.asked.has(callId)) return [];
  return [callRow({ callId, toolName, seq, origin: originOf(entry) }, facts, run)];
}

function messageRows(entry: EntryOf<'message'>, base: { key: string; seq: number; at: number }): TimelineRow[] {
  const { message } = entry;
  const arrivals = arrivalsOf(message);
  if (arrivals.length > 0)
    return arrivals.map((arrival, index) => ({
      kind: 'arrival',
      ...base,
      key: `${base.key}.${index}`,
      arrival,
      at: arrival.at ?? base.at,
    }));
  const text =
    typeof message.content === 'string'
      ? message.content
      : message.content.map((part) => (typeof part.text === 'string' ? part.text : `[${part.type}]`)).join('\n');
  return [{ kind: 'message', ...base, role: message.role, text, origin: originOf(entry) }];
}

/** If a run is active and no call runs, the model is being asked. */
function askingRow(run: Run, rows: readonly TimelineRow[], entries: readonly RunEntry[]): LineRow | undefined {
  const last = entries.at(-1);
  if (run.status !== 'running' || last === undefined) return undefined;
  if (rows.some((row) => row.kind === 'call' && row.outcome === 'running')) return undefined;
  return { kind: 'asking', key: 'asking', seq: last.seq + 1, at: last.at };
}
