import type { Answer } from '@lastcall/client';
import { valueInWords } from '@lastcall/client/react';
import { wholePercent } from '../ui/whole-percent.ts';
import { isFields } from './is-fields.ts';

/** An answer, as a person would say it. */
export function answerInWords(answer: Answer): string {
  if ('approve' in answer) return answer.input === undefined ? 'Approved' : 'Approved with changes';
  if ('deny' in answer) return `Denied: ${answer.deny}`;
  if ('error' in answer) return `Failed: ${answer.error}`;
  return resultInWords(answer.result);
}

export function resultInWords(result: unknown): string {
  const values = isFields(result) ? Object.values(result) : [];
  return inWords(values.length === 1 ? values[0] : result);
}

/** A value in one line, truncated if it is long. */
export function inWords(value: unknown): string {
  const line = valueInWords(value)
    .slice(0, LINE + 1)
    .replace(/\s+/g, ' ');
  return line.length > LINE ? `${line.slice(0, LINE)} …` : line;
}

/** Longer texts take more than one line. */
const LINE = 160;

/** `{ receipt: 2, of: 4 }`, `{ percent: 40 }` or 0.4, as a fraction and in words. */
export function progressOf(value: unknown): { readonly part?: number; readonly words: string } {
  if (typeof value === 'number' && value >= 0 && value <= 1) return { part: value, words: `${wholePercent(value)} %` };
  if (!isFields(value)) return { words: inWords(value) };
  const [[name, done] = ['', undefined]] = Object.entries(value).filter(([key]) => key !== 'of' && key !== 'total');
  const whole = value.of ?? value.total ?? (name === 'percent' ? 100 : undefined);
  if (typeof done !== 'number' || typeof whole !== 'number' || whole <= 0) return { words: inWords(value) };
  return { part: Math.min(1, Math.max(0, done / whole)), words: `${name} ${done} of ${whole}` };
}

/** What the model has written of an input: the value once it is complete, the text until then. */
export function writtenSoFar(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
