import type { CallRow } from '@lastcall/client/timeline';

/** What differs between two calls. */
type Difference = 'input' | 'outcome' | 'output';

export type Aligned =
  | { readonly kind: 'same'; readonly left: CallRow; readonly right: CallRow }
  | { readonly kind: 'changed'; readonly left: CallRow; readonly right: CallRow; readonly what: readonly Difference[] }
  | { readonly kind: 'left'; readonly left: CallRow }
  | { readonly kind: 'right'; readonly right: CallRow };

/**
 * Pairs the calls of two runs, in order: first those of the same tool with the same input, then those of the same tool.
 */
export function alignCalls(left: readonly CallRow[], right: readonly CallRow[]): readonly Aligned[] {
  const inputs = new Map([...left, ...right].map((call) => [call, inputOf(call)]));
  const score = (a: CallRow, b: CallRow): number => {
    if (a.toolName !== b.toolName) return 0;
    return inputs.get(a) === inputs.get(b) ? 3 : 1;
  };
  const start = commonStart(left, right, (a, b) => score(a, b) === 3);
  const head = left.slice(0, start).map((call, index) => pair(call, right[index] as CallRow));
  return [...head, ...alignRest(left.slice(start), right.slice(start), score)];
}

function commonStart(
  left: readonly CallRow[],
  right: readonly CallRow[],
  isSame: (a: CallRow, b: CallRow) => boolean,
): number {
  let count = 0;
  for (; count < left.length && count < right.length; count++)
    if (!isSame(left[count] as CallRow, right[count] as CallRow)) break;
  return count;
}

/** The pairing with the highest score in which no pairs cross. */
function alignRest(
  left: readonly CallRow[],
  right: readonly CallRow[],
  score: (a: CallRow, b: CallRow) => number,
): readonly Aligned[] {
  const width = right.length + 1;
  const best = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--) {
      const both = score(left[i] as CallRow, right[j] as CallRow);
      const paired = both === 0 ? 0 : both + at(i + 1, j + 1);
      best[i * width + j] = Math.max(paired, at(i + 1, j), at(i, j + 1));
    }
  const aligned: Aligned[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [a, b] = [left[i], right[j]];
    const both = a === undefined || b === undefined ? 0 : score(a, b);
    if (a !== undefined && b !== undefined && both > 0 && at(i, j) === both + at(i + 1, j + 1)) {
      aligned.push(pair(a, b));
      [i, j] = [i + 1, j + 1];
    } else if (a !== undefined && (b === undefined || at(i, j) === at(i + 1, j))) {
      aligned.push({ kind: 'left', left: a });
      i++;
    } else {
      aligned.push({ kind: 'right', right: b as CallRow });
      j++;
    }
  }
  return aligned;
}

function pair(left: CallRow, right: CallRow): Aligned {
  const what: Difference[] = [];
  if (inputOf(left) !== inputOf(right)) what.push('input');
  if (left.outcome !== right.outcome) what.push('outcome');
  if (left.settlement?.outcome.text !== right.settlement?.outcome.text) what.push('output');
  return what.length === 0 ? { kind: 'same', left, right } : { kind: 'changed', left, right, what };
}

/** The input as text, independent of the order of its keys. */
export function inputOf({ asked, settlement }: CallRow): string {
  const input = asked === undefined ? settlement?.input : parsed(asked);
  return JSON.stringify(sorted(input), null, 2) ?? '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sorted(one)]),
  );
}
