import { inboxInWords } from '../inbox/inbox-words.ts';
import type { InboxLine } from '../inbox/render-inbox.ts';
import { timeInWords } from '../plain-words.ts';
import { clip } from './clip.ts';
import type { TranscriptLine } from './transcript-line.ts';

const MAX_TEXT = 400;
const MAX_INPUT = 200;

/**
 * Summarises without a model, one line for each item: who said what, which tools were called, and what they returned.
 */
export function summariseByRule(items: readonly TranscriptLine[]): readonly string[] {
  return items.flatMap((item) => {
    if ('called' in item) return [describeCall(item)];
    if (item.frame?.name === 'inbox') return item.frame.lines.map(describeEvent);
    return [`${SPEAKERS[item.said]}: ${firstAndLastLine(item.text, MAX_TEXT)}`];
  });
}

const SPEAKERS = { system: 'I was told', user: 'I was told', assistant: 'I said' } as const;

function describeCall({ called, input, result }: Extract<TranscriptLine, { called: string }>): string {
  return `I called ${called} ${clip(JSON.stringify(input) ?? '', MAX_INPUT)}: ${firstAndLastLine(result, MAX_TEXT)}`;
}

function describeEvent(line: unknown): string {
  const { at } = line as InboxLine;
  const [what = '', ...more] = inboxInWords([line], undefined);
  // A message has the heading of its space.
  const words = more.length === 0 ? what : `${what} ${more.join('\n')}`;
  return `${timeInWords(Date.parse(at))} ${firstAndLastLine(words, MAX_TEXT)}`;
}

/** Keeps the first line and the last. */
function firstAndLastLine(text: string, characters: number): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [first = '', last = ''] = [lines[0], lines.at(-1)];
  if (lines.length <= 1) return clip(first, characters);
  return `${clip(first, characters / 2)} … ${clip(last, characters / 2)}`;
}
