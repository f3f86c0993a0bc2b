import type { Run } from '../wire.generated.ts';
import type { Facts } from './call-facts.ts';
import type { LineRow, TimelineRow } from './rows.ts';

/** Each takeover is put before the first row whose end the new worker wrote. */
export function withTakeovers(
  rows: readonly TimelineRow[],
  { takeovers = [] }: Run,
  facts: Facts,
): readonly TimelineRow[] {
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
  // A call that waited may have ended in a later run.
  return row.kind === 'call' ? (row.waitSeq ?? row.endSeq ?? Number.POSITIVE_INFINITY) : row.seq;
}

/** Counts calls that were started again after a takeover. */
function repeatedAfter(afterSeq: number, { calls }: Facts): number {
  return [...calls.values()].filter(
    ({ starts }) => starts.some(({ seq }) => seq <= afterSeq) && starts.some(({ seq }) => seq > afterSeq),
  ).length;
}
