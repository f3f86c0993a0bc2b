import { type CallRow, NEVER_RAN, type TimelineRow } from '@lastcall/client/timeline';

/** Which calls are shown. */
export const ONLY = ['errors', 'waiting', 'changes', 'never-ran'] as const;
export type Only = (typeof ONLY)[number];

export function toOnly(text: string | undefined): Only | undefined {
  return ONLY.find((only) => only === text);
}

function isShownBy(only: Only, { outcome, wait, changes }: CallRow): boolean {
  switch (only) {
    case 'errors':
      return outcome === 'error' || outcome === 'unknown';
    case 'waiting':
      return outcome === 'waiting' || wait !== undefined;
    case 'changes':
      return changes !== undefined;
    case 'never-ran':
      return NEVER_RAN.has(outcome);
  }
}

/** How many calls each filter would show. */
export function countsOf(rows: readonly TimelineRow[]): Readonly<Record<Only, number>> {
  const calls = rows.filter((row) => row.kind === 'call');
  const count = (only: Only): number => calls.filter((call) => isShownBy(only, call)).length;
  return {
    errors: count('errors'),
    waiting: count('waiting'),
    changes: count('changes'),
    'never-ran': count('never-ran'),
  };
}

interface Filter {
  readonly only?: Only | undefined;
  /** The text to search for in names, inputs, outputs and the model's replies. */
  readonly search?: string | undefined;
}

/** The matching rows, each call with its step above it. */
export function filterRows(rows: readonly TimelineRow[], { only, search = '' }: Filter): readonly TimelineRow[] {
  const wanted = search.trim().toLowerCase();
  if (only === undefined && wanted === '') return rows;
  const matches = (row: TimelineRow): boolean =>
    (only === undefined || (row.kind === 'call' && isShownBy(only, row))) &&
    (wanted === '' || textOf(row).toLowerCase().includes(wanted));
  const matching = new Set(rows.filter(matches));
  const steps = new Set(
    [...matching].flatMap((row) => (row.kind === 'call' && row.step !== undefined ? [row.step] : [])),
  );
  return rows.filter((row) => matching.has(row) || (row.kind === 'step' && steps.has(row.step)));
}

function textOf(row: TimelineRow): string {
  switch (row.kind) {
    case 'call': {
      const { outcome } = row.settlement ?? {};
      const code = outcome?.status === 'error' ? outcome.code : '';
      return `${row.callId} ${row.toolName} ${row.outcome} ${code} ${row.asked ?? ''} ${outcome?.text ?? ''} ${row.origin?.node ?? ''}`;
    }
    case 'arrival':
      return `${row.arrival.by ?? ''} ${row.arrival.text}`;
    case 'command':
      return `${row.name} ${row.error ?? ''}`;
    case 'step':
    case 'message':
      return `${row.origin?.node ?? ''} ${row.text}`;
    case 'nudge':
    case 'rewind':
    case 'summary':
      return row.text;
    default:
      return '';
  }
}
