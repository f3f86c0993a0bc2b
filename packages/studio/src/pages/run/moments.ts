import { type CallRow, NEVER_RAN, type StepRow, type Timeline, type TimelineRow } from '@lastcall/client/timeline';

/** A point in a run at which something began or ended. */
export interface Moment {
  readonly at: number;
  readonly key: string;
  readonly phase: 'begin' | 'end';
  readonly row: TimelineRow;
}

/** All moments of a run, in order of time. Within a millisecond, they follow the timeline's order. */
export function momentsOf({ rows }: Timeline): readonly Moment[] {
  const moments = rows.flatMap((row, index) => timesOf(row, rows, index).map((moment) => ({ ...moment, index })));
  return moments
    .toSorted((a, b) => a.at - b.at || a.index - b.index || (a.phase === b.phase ? 0 : a.phase === 'begin' ? -1 : 1))
    .map(({ index: _, ...moment }) => moment);
}

function timesOf(row: TimelineRow, rows: readonly TimelineRow[], index: number): readonly Moment[] {
  const begin = (at: number): Moment => ({ at, key: row.key, phase: 'begin', row });
  const end = (at: number): Moment => ({ at, key: row.key, phase: 'end', row });
  if (row.kind === 'step') return [begin(row.startedAt ?? row.endedAt), end(row.endedAt)];
  if (row.kind === 'call') {
    const { startedAt, endedAt } = row;
    if (startedAt === undefined) return [];
    return endedAt === undefined || NEVER_RAN.has(row.outcome) ? [begin(startedAt)] : [begin(startedAt), end(endedAt)];
  }
  // A line's time is when it was written, which may be after the next item began.
  const next = rows
    .slice(index + 1)
    .find((one): one is StepRow | CallRow => one.kind === 'step' || one.kind === 'call');
  return [begin(Math.min(row.at, next?.startedAt ?? row.at))];
}

/**
 * The timeline at the moment with this number, counted from 1: later items are missing, and unfinished ones are
 * running.
 */
export function timelineAt(timeline: Timeline, moments: readonly Moment[], number: number): Timeline {
  const begun = new Set<string>();
  const ended = new Set<string>();
  for (const { key, phase } of moments.slice(0, number)) (phase === 'begin' ? begun : ended).add(key);
  const rows = timeline.rows
    .filter(({ key }) => begun.has(key))
    .map((row): TimelineRow => {
      if (ended.has(row.key)) return row;
      if (row.kind === 'call' && !NEVER_RAN.has(row.outcome)) return unended(row);
      return row.kind === 'step'
        ? { kind: 'asking', key: row.key, seq: row.seq, at: row.startedAt ?? row.endedAt }
        : row;
    });
  return { rows, steps: rows.filter(({ kind }) => kind === 'step').length };
}

function unended(call: CallRow): CallRow {
  return {
    ...call,
    outcome: 'running',
    settlement: undefined,
    laterEndAt: undefined,
    wait: undefined,
    changes: undefined,
    endedAt: undefined,
    isResponse: false,
  };
}

/** A moment, in words. */
export function momentInWords({ row, phase }: Moment): string {
  switch (row.kind) {
    case 'call':
      if (NEVER_RAN.has(row.outcome)) return `${row.toolName} was ${row.outcome}`;
      return phase === 'begin' ? `${row.toolName} started` : `${row.toolName} ended: ${row.outcome}`;
    case 'step':
      return phase === 'begin' ? `Step ${row.step}: the model was asked` : `Step ${row.step}: the model had answered`;
    default:
      return LINES[row.kind];
  }
}

const LINES: Readonly<Record<Exclude<TimelineRow['kind'], 'call' | 'step'>, string>> = {
  arrival: 'Something arrived',
  message: 'The model was sent a message',
  takeover: 'Another worker took over',
  nudge: 'The model was reminded',
  rewind: 'The run went back',
  trimmed: 'Calls were removed from what the model sees',
  command: 'A command ended',
  summary: 'Earlier runs were summarised',
  asking: 'Waiting for the model',
  stop: 'The run ended',
  run: 'The next run began',
  wait: 'It began to wait for an answer',
};
