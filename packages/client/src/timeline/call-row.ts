import type { Run, Settlement } from '../wire.generated.ts';
import type { CallFacts, Facts } from './call-facts.ts';
import { type CallStatus, callStatus } from './call-status.ts';
import type { Origin } from './machine-steps.ts';
import type { CallRow, EntryOf, LostAttempt } from './rows.ts';

interface AskedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly seq: number;
  readonly origin?: Origin | undefined;
  readonly step?: number;
  readonly number?: number;
  readonly asked?: string;
  readonly isTrimmed?: boolean;
}

/** A call as its facts tell it. */
export function callRow(
  { callId, toolName, seq, origin, step, number, asked, isTrimmed = false }: AskedCall,
  facts: Facts,
  run: Run,
): CallRow {
  const { settled, pending, changes, subAgents, starts = [], answer } = facts.calls.get(callId) ?? {};
  const settlement = settled?.entry.settlement ?? (pending && waitedSettlement(pending));
  const outcome = statusOf(settlement, settled === undefined ? pending?.status : undefined, run);
  return {
    kind: 'call',
    key: callId,
    callId,
    runId: run.id,
    toolName,
    step,
    origin,
    number,
    asked,
    outcome,
    settlement,
    laterEndAt: settled === undefined ? pending?.ended?.at : undefined,
    wait: pending?.entry.settlement,
    answer,
    changes,
    subAgents,
    // The end of a lost call is written by the worker that found it.
    startedAt: (outcome === 'unknown' ? starts[0]?.at : undefined) ?? settlement?.startedAt ?? starts.at(-1)?.at,
    endedAt: settlement?.endedAt,
    starts: starts.length,
    lostAttempts: lostAttempts(starts, facts.takeovers),
    isResponse: isResponse(settled?.entry, run),
    isTrimmed,
    bracket: undefined,
    seq,
    endSeq: settled?.seq ?? pending?.seq,
    waitSeq: pending?.seq,
  };
}

/** A call that waits may have been answered since, in a later run. */
function statusOf(settlement: Settlement | undefined, waited: CallStatus | undefined, { status }: Run): CallStatus {
  if (settlement === undefined && status !== 'running') return 'cancelled';
  return waited ?? callStatus(settlement?.outcome);
}

/** Each start but the last was followed by a takeover. */
function lostAttempts(starts: CallFacts['starts'], takeovers: Facts['takeovers']): readonly LostAttempt[] {
  return starts.slice(0, -1).flatMap(({ seq, at }) => {
    const takeover = takeovers.find(({ afterSeq }) => afterSeq >= seq);
    return takeover === undefined ? [] : [{ startedAt: at, lostAt: takeover.at, worker: takeover.from }];
  });
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

/** The model's provider ran the call itself, during the reply. */
export function withProvided(
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
  return { ...row, outcome: callStatus(outcome), settlement, startedAt: at, endedAt: at, endSeq: row.seq };
}
