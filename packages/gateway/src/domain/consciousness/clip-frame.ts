import { type Frame, parseAnyFrame, renderFrame } from '../inbox/frame.ts';
import { clip } from './clip.ts';

/** What of a text of a line may be shown. The last leaves ids and sources whole. */
const CLIPS = [2_000, 500, 150, 60];

/**
 * A frame of ours with at most so many characters, if that can be; undefined where the text is none. Texts inside its lines are
 * clipped, and then its last lines are left out: a line is never cut, because the beginning of one and the end of another would read
 * as an event that nobody sent.
 */
export function clipFrame(text: string, characters: number): string | undefined {
  const frame = parseAnyFrame(text);
  if (frame === undefined) return undefined;
  for (const each of CLIPS) {
    const clipped = renderFrame({ ...frame, lines: frame.lines.map((line) => clipTexts(line, each)) });
    if (clipped.length <= characters) return clipped;
  }
  return withFewerLines(frame, characters);
}

function withFewerLines(frame: Frame, characters: number): string {
  const lines = frame.lines.map((line) => clipTexts(line, CLIPS.at(-1) ?? 0));
  // It may have been clipped before.
  const gone = Number(frame.attributes?.leftout ?? 0);
  const first = (count: number): string => {
    const attributes = { ...frame.attributes, leftout: gone + lines.length - count };
    return renderFrame({ ...frame, attributes, lines: lines.slice(0, count) });
  };
  let count = lines.length - 1;
  while (count > 0 && first(count).length > characters) count--;
  return first(Math.max(0, count));
}

function clipTexts(value: unknown, characters: number): unknown {
  if (typeof value === 'string') return clip(value, characters);
  if (Array.isArray(value)) return value.map((item) => clipTexts(item, characters));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, clipTexts(field, characters)]));
}
