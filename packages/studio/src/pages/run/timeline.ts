import type { Answer, Changes, Run, RunEntry, Settlement, TranscriptEntry, Usage } from '@lastcall/client';
import { type OutcomeName, outcomeName } from '../../ui/outcome.tsx';
import { type Arrival, arrivalsOf } from './arrivals.ts';

type EntryOf<K extends TranscriptEntry['kind']> = Extract<TranscriptEntry, { kind: K }>;
type Takeover = NonNullable<Run['takeovers']>[number];

/** A call in the timeline, whether it ran or not. */
export interface CallRow {
  readonly kind: 'call';
  readonly key: string;
  readonly callId: string;
  readonly toolName: string;
  /** Undefined if an earlier run asked for it, and its answer came now. */
  readonly step: number | undefined;
  /** Its place in the reply, from 1. */
  readonly number: number | undefined;
  /** The arguments as the model wrote them. */
  readonly asked: string | undefined;
  readonly outcome: OutcomeName;
  readonly settlement: Settlement | undefined;
  /** True if it waited when the run ended, and ended in a later one. */
  readonly isLater: boolean;
  /** How its wait began, if it waited. */
  readonly wait: Settlement | undefined;
  readonly answer: Answer | undefined;
  readonly changes: Changes | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** How often it was started: more than once after a takeover. */
  readonly starts: number;
  /** True if its output is the response of the run. */
  readonly isResponse: boolean;
  /** True if the model does not see it any more. */
  readonly isTrimmed: boolean;
  /** Its place among calls that ran in parallel. */
  readonly bracket: 'first' | 'middle' | 'last' | undefined;
  /** The numbers of the entries with which the call first appeared and ended. */
  readonly seq: number;
  readonly endSeq: number | undefined;
}

export interface StepRow {
  readonly kind: 'step';
  readonly key: string;
  readonly step: number;
  readonly text: string;
  readonly usage: Usage;
  /** Undefined if the gateway has no price for the model. */
  readonly cost: number | undefined;
  readonly model: string | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly attempts: number;
  readonly finishReason: EntryOf<'reply'>['finishReason'];
  readonly calls: number;
  readonly seq: number;
}

/** Everything else that happened: a line of words. */
export type LineRow =
  | {
      readonly kind: 'arrival';
      readonly key: string;
      readonly seq: number;
      readonly arrival: Arrival;
      readonly at: number;
    }
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly seq: number;
      readonly role: string;
      readonly text: string;
      readonly at: number;
    }
  | {
      readonly kind: 'takeover';
      readonly key: string;
      readonly seq: number;
      readonly takeover: Takeover;
      readonly repeated: number;
      readonly at: number;
    }
  | {
      readonly kind: 'nudge';
      readonly key: string;
      readonly seq: number;
      readonly why: EntryOf<'nudge'>['why'];
      readonly text: string;
      readonly at: number;
    }
  | {
      readonly kind: 'rewind';
      readonly key: string;
      readonly seq: number;
      readonly text: string;
      readonly remaining: readonly string[];
      readonly at: number;
    }
  | {
      readonly kind: 'trimmed';
      readonly key: string;
      readonly seq: number;
      readonly step: number;
      readonly hidden: number;
      readonly at: number;
    }
  | { readonly kind: 'summary'; readonly key: string; readonly seq: number; readonly text: string; readonly at: number }
  /** The model is being asked now. */
  | { readonly kind: 'asking'; readonly key: string; readonly seq: number; readonly at: number }
  | { readonly kind: 'stop'; readonly key: string; readonly seq: number; readonly at: number };

export type TimelineRow = CallRow | StepRow | LineRow;

export interface Timeline {
  readonly rows: readonly TimelineRow[];
  readonly steps: number;
}

/** The transcript of a run as rows: steps and their calls in call order, and what happened between them. */
export function toTimeline(run: Run, entries: readonly RunEntry[]): Timeline {
  const facts = factsOf(entries);
  const rows = entries.flatMap((entry) => rowsOf(entry, facts, run));
  const asking = askingRow(run, rows, entries);
  return {
    rows: withTakeovers(asking === undefined ? rows : [...rows, asking], run, facts),
    steps: rows.filter(({ kind }) => kind === 'step').length,
  };
}

interface CallFacts {
  settled?: { readonly entry: EntryOf<'settled'>; readonly seq: number };
  pending?: { readonly entry: EntryOf<'pending'>; readonly seq: number; readonly ended: RunEntry['ended'] };
  changes?: Changes | undefined;
  /** The numbers of its `started` entries, and when the first of them was written. */
  readonly starts: { readonly seq: number; readonly at: number }[];
  answer?: Answer | undefined;
}

interface Facts {
  readonly calls: ReadonlyMap<string, CallFacts>;
  /** Calls that a reply of this run asked for. */
  readonly asked: ReadonlySet<string>;
  /** By step: the calls that the model still sees. */
  readonly kept: ReadonlyMap<number, ReadonlySet<string>>;
  /** By step: how many calls its reply asked for. */
  readonly sizes: ReadonlyMap<number, number>;
}

function factsOf(entries: readonly RunEntry[]): Facts {
  const calls = new Map<string, CallFacts>();
  const asked = new Set<string>();
  const kept = new Map<number, ReadonlySet<string>>();
  const sizes = new Map<number, number>();
  const of = (callId: string): CallFacts => {
    const known = calls.get(callId) ?? { starts: [] };
    calls.set(callId, known);
    return known;
  };
  for (const { seq, at, entry, changes, ended } of entries) {
    if (entry.kind === 'reply') {
      sizes.set(entry.step, entry.calls.length);
      for (const { callId } of entry.calls) asked.add(callId);
    }
    if (entry.kind === 'trimmed') kept.set(entry.step, new Set(entry.keep));
    if (entry.kind === 'started') {
      const call = of(entry.callId);
      call.starts.push({ seq, at });
      call.answer ??= entry.answer;
    }
    if (entry.kind === 'pending')
      Object.assign(of(entry.settlement.callId), { pending: { entry, seq, ended }, changes });
    if (entry.kind === 'settled') {
      const call = of(entry.settlement.callId);
      call.settled = { entry, seq };
      call.changes = changes ?? call.changes;
      call.answer ??= entry.answer;
    }
  }
  return { calls, asked, kept, sizes };
}

function rowsOf({ seq, at, entry, cost }: RunEntry, facts: Facts, run: Run): readonly TimelineRow[] {
  const base = { key: `e${seq}`, seq, at };
  switch (entry.kind) {
    case 'message':
      return messageRows(entry, base);
    case 'reply':
      return replyRows(entry, { seq, at, cost }, facts, run);
    case 'settled': {
      const { settlement } = entry;
      // This is the answer to a call of an earlier run.
      if (facts.asked.has(settlement.callId)) return [];
      return [callRow({ callId: settlement.callId, toolName: settlement.toolName, seq }, facts, run)];
    }
    case 'nudge':
      return [{ kind: 'nudge', ...base, why: entry.why, text: entry.text }];
    case 'rewind':
      return [{ kind: 'rewind', ...base, text: entry.text, remaining: entry.remaining }];
    case 'trimmed':
      return [{ kind: 'trimmed', ...base, step: entry.step, hidden: hiddenIn(entry.step, facts) }];
    case 'compaction':
      return [{ kind: 'summary', ...base, text: entry.summary }];
    case 'stop':
      return [{ kind: 'stop', ...base }];
    default:
      return [];
  }
}

function messageRows({ message }: EntryOf<'message'>, base: { key: string; seq: number; at: number }): TimelineRow[] {
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
  return [{ kind: 'message', ...base, role: message.role, text }];
}

function replyRows(
  reply: EntryOf<'reply'>,
  { seq, at, cost }: Pick<RunEntry, 'seq' | 'at' | 'cost'>,
  facts: Facts,
  run: Run,
): TimelineRow[] {
  const { step, text, usage, model, startedAt, endedAt = at, attempts = 1, finishReason, calls } = reply;
  const kept = facts.kept.get(step);
  const rows = calls.map(({ callId, toolName, input, provided }, index) => {
    const isTrimmed = kept?.has(callId) === false;
    const row = callRow({ callId, toolName, seq, step, number: index + 1, asked: input, isTrimmed }, facts, run);
    return provided === undefined ? row : withProvided(row, provided, endedAt);
  });
  const head: StepRow = {
    kind: 'step',
    key: `s${seq}`,
    step,
    text,
    usage,
    cost,
    model,
    startedAt,
    endedAt,
    attempts,
    finishReason,
    calls: calls.length,
    seq,
  };
  return [head, ...withBrackets(withPlanned(rows))];
}

/** The model's provider ran the call itself, during the reply. */
function withProvided(
  row: CallRow,
  { result, isError }: NonNullable<EntryOf<'reply'>['calls'][number]['provided']>,
  at: number,
): CallRow {
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
  const outcome: Settlement['outcome'] = isError
    ? { status: 'error', code: 'provider', message: text, text }
    : { status: 'ok', value: result, text };
  const { callId, toolName } = row;
  const settlement = { callId, toolName, outcome, startedAt: at, endedAt: at };
  return { ...row, outcome: outcomeName(outcome), settlement, startedAt: at, endedAt: at, endSeq: row.seq };
}

/** A call that was recorded as started has external effects and runs alone: those after it have not begun. */
function withPlanned(rows: readonly CallRow[]): readonly CallRow[] {
  const alone = rows.findIndex(({ outcome, starts }) => outcome === 'running' && starts > 0);
  if (alone === -1) return rows;
  return rows.map((row, index) => (index > alone && row.outcome === 'running' ? { ...row, outcome: 'planned' } : row));
}

interface AskedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly seq: number;
  readonly step?: number;
  readonly number?: number;
  readonly asked?: string;
  readonly isTrimmed?: boolean;
}

function callRow(
  { callId, toolName, seq, step, number, asked, isTrimmed = false }: AskedCall,
  facts: Facts,
  run: Run,
): CallRow {
  const { settled, pending, changes, starts = [], answer } = facts.calls.get(callId) ?? {};
  const settlement = settled?.entry.settlement ?? (pending && waitedSettlement(pending));
  const outcome = settlement === undefined && run.status !== 'running' ? 'cancelled' : outcomeName(settlement?.outcome);
  return {
    kind: 'call',
    key: callId,
    callId,
    toolName,
    step,
    number,
    asked,
    outcome,
    settlement,
    isLater: settled === undefined && pending?.ended !== undefined,
    wait: pending?.entry.settlement,
    answer,
    changes,
    // The end of a lost call is written by the worker that found it.
    startedAt: (outcome === 'unknown' ? starts[0]?.at : undefined) ?? settlement?.startedAt ?? starts[0]?.at,
    endedAt: settlement?.endedAt,
    starts: starts.length,
    isResponse: isResponse(settled?.entry, run),
    isTrimmed,
    bracket: undefined,
    seq,
    endSeq: settled?.seq ?? pending?.seq,
  };
}

/** The state of a call that waited. Its times are those of this run. */
function waitedSettlement({ entry: { settlement }, ended }: NonNullable<CallFacts['pending']>): Settlement {
  return ended === undefined ? settlement : { ...settlement, outcome: ended.outcome };
}

/** The last successful call of the tool that ended the turn gave the response. */
function isResponse(entry: EntryOf<'settled'> | undefined, { stop }: Run): boolean {
  if (entry === undefined || entry.settlement.outcome.status !== 'ok') return false;
  if (entry.endsTurn !== undefined) return true;
  if (stop?.reason !== 'end_turn' || stop.by === 'text') return false;
  return entry.settlement.toolName === stop.tool && (entry.settlement.terminal === true || stop.by === 'terminating');
}

/** Consecutive calls whose times overlap ran in parallel. */
function withBrackets(calls: readonly CallRow[]): readonly CallRow[] {
  const groups: CallRow[][] = [];
  let until = Number.NEGATIVE_INFINITY;
  for (const call of calls) {
    const { startedAt, endedAt = Number.POSITIVE_INFINITY } = call;
    const ran = startedAt !== undefined && !NEVER_RAN.has(call.outcome);
    if (ran && startedAt < until) groups.at(-1)?.push(call);
    else groups.push([call]);
    until = ran ? Math.max(startedAt < until ? until : endedAt, endedAt) : Number.NEGATIVE_INFINITY;
  }
  return groups.flatMap((group) =>
    group.length === 1 ? group : group.map((call, index) => ({ ...call, bracket: bracketOf(index, group.length) })),
  );
}

function bracketOf(index: number, length: number): 'first' | 'middle' | 'last' {
  if (index === 0) return 'first';
  return index === length - 1 ? 'last' : 'middle';
}

export const NEVER_RAN: ReadonlySet<OutcomeName> = new Set(['cancelled', 'skipped']);

function hiddenIn(step: number, { kept, sizes }: Facts): number {
  return (sizes.get(step) ?? 0) - (kept.get(step)?.size ?? 0);
}

/** If a run is active and no call runs, the model is being asked. */
function askingRow(run: Run, rows: readonly TimelineRow[], entries: readonly RunEntry[]): LineRow | undefined {
  const last = entries.at(-1);
  if (run.status !== 'running' || last === undefined) return undefined;
  if (rows.some((row) => row.kind === 'call' && row.outcome === 'running')) return undefined;
  return { kind: 'asking', key: 'asking', seq: last.seq + 1, at: last.at };
}

/** Each takeover is put before the first row whose end the new worker wrote. */
function withTakeovers(rows: readonly TimelineRow[], { takeovers = [] }: Run, facts: Facts): readonly TimelineRow[] {
  const all = [...rows];
  for (const takeover of takeovers) {
    const { afterSeq, at } = takeover;
    const place = all.findIndex((row) => endOf(row) > afterSeq);
    const row: LineRow = {
      kind: 'takeover',
      key: `t${at}`,
      seq: afterSeq,
      takeover,
      repeated: repeatedAfter(afterSeq, facts),
      at,
    };
    all.splice(place === -1 ? all.length : place, 0, row);
  }
  return all;
}

function endOf(row: TimelineRow): number {
  return row.kind === 'call' ? (row.endSeq ?? Number.POSITIVE_INFINITY) : row.seq;
}

/** Counts calls that were started again after a takeover. */
function repeatedAfter(afterSeq: number, { calls }: Facts): number {
  return [...calls.values()].filter(
    ({ starts }) => starts.some(({ seq }) => seq <= afterSeq) && starts.some(({ seq }) => seq > afterSeq),
  ).length;
}
