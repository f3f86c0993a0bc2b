/** A request as it is compared. */
interface ShownRequest {
  readonly messages: readonly unknown[];
  readonly tools: unknown;
  readonly settings: unknown;
}

/** The recorded request that has most lines in common with this one. */
export function nearestOf<T extends ShownRequest>(asked: ShownRequest, recorded: readonly T[]): T | undefined {
  const lines = new Set(linesOf(asked));
  let nearest: { readonly one: T; readonly share: number } | undefined;
  for (const one of recorded) {
    const own = linesOf(one);
    const share = own.filter((line) => lines.has(line)).length / Math.max(own.length, lines.size, 1);
    if (nearest === undefined || share > nearest.share) nearest = { one, share };
  }
  return nearest?.one;
}

/** What differs, line by line: `-` was recorded, `+` is asked now. */
export function diffOf(recorded: ShownRequest, asked: ShownRequest): string {
  const [before, after] = [linesOf(recorded), linesOf(asked)];
  const changes = compare(before, after);
  const shown = changes.filter((_, at) => changes.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(isChange));
  const lines = shown.slice(0, MOST_LINES).map(({ mark, line }) => `${mark} ${clip(line)}`);
  return [...lines, ...(shown.length > MOST_LINES ? [`… and ${shown.length - MOST_LINES} more lines`] : [])].join('\n');
}

const CONTEXT = 1;
const MOST_LINES = 40;
const LONGEST_LINE = 300;

interface Line {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

function isChange({ mark }: Line): boolean {
  return mark !== ' ';
}

function clip(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)} …` : line;
}

/** A text of several lines is shown as such, because that is where prompts change. */
function linesOf({ messages, tools, settings }: ShownRequest): readonly string[] {
  return [
    ...messages.flatMap((message, at) => toLines(message, `message ${at + 1}`)),
    ...(Array.isArray(tools) ? tools : []).map((tool) => `tool ${JSON.stringify(tool)}`),
    ...Object.entries(settings ?? {}).map(([name, value]) => `${name} ${JSON.stringify(value)}`),
  ];
}

function toLines(value: unknown, place: string): readonly string[] {
  if (typeof value === 'string') return value.split('\n').map((line) => `${place}: ${line}`);
  if (typeof value !== 'object' || value === null) return [`${place}: ${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([name, one]) => toLines(one, `${place}.${name}`));
}

/** The longest common lines. Requests that differ only in a few lines have long equal ends, which are taken off first. */
function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const same = (lines: readonly string[]): Line[] => lines.map((line) => ({ mark: ' ', line }));
  const middle = compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [...same(before.slice(0, start)), ...middle, ...same(before.slice(before.length - end))];
}

const MOST_COMPARED = 2_000_000;

function compareMiddle(before: readonly string[], after: readonly string[]): readonly Line[] {
  const removed = (line: string): Line => ({ mark: '-', line });
  const added = (line: string): Line => ({ mark: '+', line });
  if (before.length * after.length > MOST_COMPARED) return [...before.map(removed), ...after.map(added)];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      common[row * width + column] =
        before[row] === after[column]
          ? (common[(row + 1) * width + column + 1] ?? 0) + 1
          : Math.max(common[(row + 1) * width + column] ?? 0, common[row * width + column + 1] ?? 0);
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, next] = [before[row], after[column]];
    if (row < before.length && old === next) {
      lines.push({ mark: ' ', line: old as string });
      row++;
      column++;
    } else if (
      column >= after.length ||
      (row < before.length && (common[(row + 1) * width + column] ?? 0) >= (common[row * width + column + 1] ?? 0))
    ) {
      lines.push(removed(old as string));
      row++;
    } else {
      lines.push(added(next as string));
      column++;
    }
  }
  return lines;
}
