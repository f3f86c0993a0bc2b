import { clip } from './clip.ts';

/** Long lines are clipped before any is left out: a part of each line is worth more than one complete line. */
const CLIPS = [4_000, 2_000, 1_000, 500, 240, 120, 60];

/**
 * Returns as many of the lines as fit, in order: first clipped, and if that is not enough only the first and the last
 * of them.
 */
export function fitLines(lines: readonly string[], fits: (lines: readonly string[]) => boolean): readonly string[] {
  if (fits(lines)) return lines;
  for (const characters of CLIPS) {
    const clipped = lines.map((line) => clip(line, characters));
    if (fits(clipped)) return clipped;
  }
  return firstAndLast(
    lines.map((line) => clip(line, CLIPS.at(-1) ?? 0)),
    fits,
  );
}

/** Finds by bisection how many lines fit. Of every three that stay, one is from the beginning. */
function firstAndLast(lines: readonly string[], fits: (lines: readonly string[]) => boolean): readonly string[] {
  let [best, low, high]: [readonly string[], number, number] = [[], 1, lines.length - 1];
  while (low <= high) {
    const count = (low + high) >> 1;
    const head = Math.floor(count / 3);
    const candidate = [
      ...lines.slice(0, head),
      `[${lines.length - count} lines left out]`,
      ...lines.slice(lines.length - (count - head)),
    ];
    if (fits(candidate)) {
      best = candidate;
      low = count + 1;
    } else {
      high = count - 1;
    }
  }
  return best;
}
