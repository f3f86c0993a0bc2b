/** Longer texts are not compared: no one reads such a difference. */
export const MAX_COMPARED_BYTES = 65_536;

const CONTEXT_LINES = 2;
/** What the comparison of two lists of lines may cost. Beyond it, the lines that differ are shown as replaced. */
const MAX_COMPARISONS = 250_000;

/**
 * The lines that changed, as `diff -u` shows them, with two lines around them. It has at most `maxCharacters`; lines that do not fit are
 * counted at the end.
 */
export function textDiff(before: string, after: string, { maxCharacters }: { maxCharacters: number }): string {
  const all = compareLines(linesOf(before), linesOf(after));
  return clipLines(toHunks(all), maxCharacters);
}

interface Line {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function compareLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [
    ...marked(' ', before.slice(0, start)),
    ...compareRest(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...marked(' ', before.slice(before.length - end)),
  ];
}

function compareRest(before: readonly string[], after: readonly string[]): readonly Line[] {
  if (before.length * after.length > MAX_COMPARISONS) return [...marked('-', before), ...marked('+', after)];
  const common = commonLengths(before, after);
  const lines: Line[] = [];
  let [old, now] = [0, 0];
  while (old < before.length || now < after.length) {
    const [left, added] = [before[old], after[now]];
    if (left !== undefined && left === added) {
      lines.push({ mark: ' ', text: left });
      old++;
      now++;
    } else if (
      left !== undefined &&
      (added === undefined || lengthAt(common, old + 1, now) >= lengthAt(common, old, now + 1))
    ) {
      lines.push({ mark: '-', text: left });
      old++;
    } else {
      lines.push({ mark: '+', text: added as string });
      now++;
    }
  }
  return lines;
}

/** How many lines the rests of both have in common, from each pair of lines on. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let old = before.length - 1; old >= 0; old--)
    for (let now = after.length - 1; now >= 0; now--)
      (lengths[old] as Uint32Array)[now] =
        before[old] === after[now]
          ? lengthAt(lengths, old + 1, now + 1) + 1
          : Math.max(lengthAt(lengths, old + 1, now), lengthAt(lengths, old, now + 1));
  return lengths;
}

function lengthAt(lengths: readonly Uint32Array[], old: number, now: number): number {
  return lengths[old]?.[now] ?? 0;
}

function marked(mark: Line['mark'], texts: readonly string[]): readonly Line[] {
  return texts.map((text) => ({ mark, text }));
}

/** Leaves out lines that are far from every change, and says where each part is. */
function toHunks(lines: readonly Line[]): readonly string[] {
  const isNear = lines.map(() => false);
  for (const [index, { mark }] of lines.entries())
    if (mark !== ' ') isNear.fill(true, Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1);
  const shown: string[] = [];
  let [old, now] = [1, 1];
  for (const [index, { mark, text }] of lines.entries()) {
    if (isNear[index] === true) {
      if (isNear[index - 1] !== true) shown.push(`@@ -${old} +${now} @@`);
      shown.push(mark + text);
    }
    if (mark !== '+') old++;
    if (mark !== '-') now++;
  }
  return shown;
}

function clipLines(lines: readonly string[], maxCharacters: number): string {
  let characters = 0;
  const fitting = lines.findIndex((line) => {
    characters += line.length + 1;
    return characters > maxCharacters;
  });
  if (fitting === -1) return lines.join('\n');
  const left = lines.length - fitting;
  return [...lines.slice(0, fitting), `… ${left} more ${left === 1 ? 'line' : 'lines'}`].join('\n');
}
