import type { Run, RunEntry } from '../wire.generated.ts';
import type { Facts } from './call-facts.ts';
import { callRow, withProvided } from './call-row.ts';
import { NEVER_RAN } from './call-status.ts';
import { originOf } from './machine-steps.ts';
import type { CallRow, EntryOf, StepRow, TimelineRow } from './rows.ts';

/** A step, and the calls that its reply asked for. */
export function replyRows(
  reply: EntryOf<'reply'>,
  { seq, at, cost }: Pick<RunEntry, 'seq' | 'at' | 'cost'>,
  facts: Facts,
  run: Run,
): TimelineRow[] {
  const { step, text, usage, model, startedAt, endedAt = at, attempts = 1, finishReason, calls } = reply;
  const origin = originOf(reply);
  const kept = facts.kept.get(step);
  const rows = calls.map(({ callId, toolName, input, provided }, index) => {
    const isTrimmed = kept?.has(callId) === false;
    const row = callRow(
      { callId, toolName, seq, origin, step, number: index + 1, asked: input, isTrimmed },
      facts,
      run,
    );
    return provided === undefined ? row : withProvided(row, provided, endedAt);
  });
  const head: StepRow = {
    kind: 'step',
    key: `s${seq}`,
    runId: run.id,
    step,
    origin,
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

/** A call that was recorded as started has external effects and runs alone: those after it have not begun. */
function withPlanned(rows: readonly CallRow[]): readonly CallRow[] {
  const alone = rows.findIndex(({ outcome, starts }) => outcome === 'running' && starts > 0);
  if (alone === -1) return rows;
  return rows.map((row, index) => (index > alone && row.outcome === 'running' ? { ...row, outcome: 'planned' } : row));
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
