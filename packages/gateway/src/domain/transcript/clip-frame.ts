import { type Frame, parseAnyFrame, renderFrame } from '../frame.ts';
import { clip } from './clip.ts';

/** How many characters of each text in a line are shown. The smallest still leaves ids and sources complete. */
const CLIPS = [2_000, 500, 150, 60];

/**
 * Shortens one of our frames to at most `characters`, if possible. Returns undefined if the text is not a frame. Texts inside its
 * lines are clipped first, then its last lines are left out. A line is never cut: the beginning of one and the end of another
 * could read like an event that was never sent.
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
  // The frame may have been clipped before.
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
