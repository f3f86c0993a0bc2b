import type { Change } from '@lastcall/client';
import type { CallRow, Origin, TimelineRow } from '@lastcall/client/timeline';

/** The word after the outcome: the code of an error. */
export function codeOf({ settlement }: CallRow): string | undefined {
  const outcome = settlement?.outcome;
  return outcome?.status === 'error' && !SAID.has(outcome.code) ? outcome.code : undefined;
}

/** The status of the call already says these. */
const SAID: ReadonlySet<string> = new Set(['unknown_outcome', 'denied', 'expired']);

/** The note in a call's row: why it did not run, its output, or its input. */
export function noteOf(call: CallRow, numbers: ReadonlyMap<string, string>): string {
  const { settlement, outcome, asked } = call;
  if (settlement === undefined)
    return outcome === 'cancelled' ? 'the run ended before it started' : inputInWords(asked);
  const { outcome: end } = settlement;
  switch (end.status) {
    case 'cancelled':
    case 'skipped':
      return withNumbers(end.reason, numbers);
    case 'error':
      return firstLine(end.message);
    default:
      return inputInWords(asked ?? JSON.stringify(settlement.input));
  }
}

/** The instance of a machine: its node, and for instances below the root also its id. */
export function originInWords({ node, instanceId }: Origin): string {
  return instanceId === 'root' ? node : `${node} (${instanceId})`;
}

/** The numbers of calls in the timeline, by their ids. */
export function callNumbers(rows: readonly TimelineRow[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap((row) =>
      row.kind === 'call' && row.number !== undefined ? [[row.callId, `${row.step}.${row.number}`]] : [],
    ),
  );
}

/** Reasons name calls by their ids; people know them by their numbers. */
export function withNumbers(reason: string, numbers: ReadonlyMap<string, string>): string {
  return firstLine(reason).replace(/\(call ([\w-]+)\)/g, (whole, id: string) => {
    const number = numbers.get(id);
    return number === undefined ? whole : `(${number})`;
  });
}

/** `city: Tokyo, nights: 1`. */
export function inputInWords(json: string | undefined): string {
  if (json === undefined) return '';
  let input: unknown;
  try {
    input = JSON.parse(json);
  } catch {
    return firstLine(json);
  }
  if (typeof input !== 'object' || input === null) return firstLine(String(input));
  const words = Object.entries(input).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return firstLine(words.join(', '));
}

/** `2 undone`, `3 changes`. */
export function changesInWords({ changes }: CallRow): string | undefined {
  if (changes === undefined) return undefined;
  const committed = total(changes.committed);
  const discarded = total(changes.discarded);
  const words = [
    ...(committed === 0 ? [] : [`${committed} ${committed === 1 ? 'change' : 'changes'}`]),
    ...(discarded === 0 ? [] : [`${discarded} undone`]),
  ];
  return words.join(', ');
}

function total(changes: readonly Change[]): number {
  return changes.reduce((sum, { count }) => sum + count, 0);
}

/** A worker's name without its unique part: `host:pid`. */
export function workerName(owner: string | undefined): string {
  if (owner === undefined) return 'a worker';
  return owner.replace(/:[0-9a-f]{8}-[0-9a-f-]{27}$/, '');
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
