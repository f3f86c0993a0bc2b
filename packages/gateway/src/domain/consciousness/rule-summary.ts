import { parseFrame } from '../inbox/frame.ts';
import type { InboxLine } from '../inbox/render-inbox.ts';
import { clip } from './clip.ts';
import type { HistoryItem } from './history-item.ts';

const LONGEST_TEXT = 400;
const LONGEST_INPUT = 200;

/** What happened in one line each, by rule: who said what, which tools were called, and what they gave. */
export function summariseByRule(happenings: readonly HistoryItem[], tag: string): readonly string[] {
  return happenings.flatMap((happening) => {
    if ('called' in happening) return [ofCall(happening)];
    const inbox = happening.said === 'user' ? parseFrame(happening.text, 'inbox', tag) : undefined;
    if (inbox !== undefined) return inbox.lines.map((line) => ofEvent(line as InboxLine));
    return [`${SPEAKERS[happening.said]}: ${gist(happening.text, LONGEST_TEXT)}`];
  });
}

const SPEAKERS = { system: 'I was told', user: 'I was told', assistant: 'I said' } as const;

function ofCall({ called, input, result }: Extract<HistoryItem, { called: string }>): string {
  return `I called ${called} ${clip(JSON.stringify(input) ?? '', LONGEST_INPUT)}: ${gist(result, LONGEST_TEXT)}`;
}

function ofEvent({ type, source, at, data }: InboxLine): string {
  const { text } = data;
  const what = typeof text === 'string' ? text : JSON.stringify(data);
  return `${at} ${type} from ${source}: ${gist(what, LONGEST_TEXT)}`;
}

/** The first line and the last. */
function gist(text: string, characters: number): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [first = '', last = ''] = [lines[0], lines.at(-1)];
  if (lines.length <= 1) return clip(first, characters);
  return `${clip(first, characters / 2)} … ${clip(last, characters / 2)}`;
}
