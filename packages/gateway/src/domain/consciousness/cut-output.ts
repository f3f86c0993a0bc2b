import type { Outcome } from '@lastcall/core';
import { toJson } from '../../ports/store/json.ts';
import { fileParts, wholeText } from './whole-output.ts';

export interface OutputLimits {
  /** Bytes of an output that the model, a card and a stream are shown. */
  readonly outputBytes: number;
  /** Bytes of an output that are kept to be read back. */
  readonly keptOutputBytes: number;
}

/** What an outcome says of the part of its output that it does not show. */
interface Cut {
  /** Of the whole, as `read_output` counts them. */
  readonly characters: number;
  /** Whether the whole can be read back. */
  readonly kept: boolean;
}

export type CutOutcome = Outcome & { readonly cut?: Cut };

/**
 * The outcome with what is over the limit cut off, and said so; the outcome itself, where nothing is. How the call ended stays as it
 * is: a large output is no failure.
 */
export function cutOutcome(outcome: Outcome, callId: string, limits: OutputLimits): CutOutcome {
  const { outputBytes, keptOutputBytes } = limits;
  const value = outcome.status === 'ok' ? toText(outcome.value, outcome.text) : '';
  // The text for the person is part of the value of a reply.
  const [valueBytes, textBytes] = [bytesOf(value), bytesOf(wholeText(outcome))];
  if (valueBytes <= outputBytes && textBytes <= outputBytes) return outcome;
  const cut: Cut = {
    characters: wholeText(outcome).length,
    kept: Math.max(valueBytes, textBytes) <= keptOutputBytes,
  };
  const shortened = valueBytes <= outputBytes ? outcome : withValue(outcome, value, outputBytes);
  if (textBytes <= outputBytes) return { ...shortened, cut };
  const head = headOf(outcome.text, outputBytes);
  const mark = cut.kept
    ? keptMark(outcome, { callId, head, cut })
    : lostMark(outcome, { head, textBytes, keptOutputBytes });
  return { ...withText(shortened, `${head}\n${mark}`), cut };
}

/** As much of the text as so many bytes hold. Ends after a whole character. */
function headOf(text: string, bytes: number): string {
  // Each takes a byte at least.
  if (text.length <= bytes && bytesOf(text) <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** For those who see a card or a stream, who have no tool to read on with. */
export function cutForPeople(text: string, bytes: number): string {
  const head = headOf(text, bytes);
  if (head.length === text.length) return text;
  return `${head}\n[cut: the first ${head.length} of ${text.length} characters are shown]`;
}

interface Shown {
  readonly callId: string;
  readonly head: string;
  readonly cut: Cut;
}

function keptMark(outcome: Outcome, { callId, head, cut }: Shown): string {
  const files = fileParts(outcome).map(({ mediaType }) => mediaType);
  const leftOut = files.length === 0 ? '' : ` Files left out: ${files.join(', ')}.`;
  return `[output cut: the first ${head.length} of ${cut.characters} characters are shown.${leftOut} The whole is kept as ${callId}: read_output gives it back, from offset ${head.length} on]`;
}

interface Lost {
  readonly head: string;
  readonly textBytes: number;
  readonly keptOutputBytes: number;
}

function lostMark({ status }: Outcome, { head, textBytes, keptOutputBytes }: Lost): string {
  const ran = status === 'ok' ? 'The tool ran and succeeded, and what it did stays done. ' : '';
  return `[output dropped: ${ran}Its output has ${textBytes} bytes, more than the ${keptOutputBytes} that are kept. The first ${head.length} characters are shown; the rest is gone and cannot be read back]`;
}

function withValue(outcome: Outcome, value: string, bytes: number): Outcome {
  if (outcome.status !== 'ok') return outcome;
  const said = outcome.userText === undefined ? {} : { userText: cutForPeople(outcome.userText, bytes) };
  return { ...outcome, ...said, value: cutForPeople(value, bytes) };
}

function withText(outcome: Outcome, text: string): Outcome {
  switch (outcome.status) {
    case 'ok': {
      const { content: _leftOut, ...rest } = outcome;
      return { ...rest, text };
    }
    case 'error':
      return { ...outcome, message: text, text };
    case 'cancelled':
    case 'skipped':
      return { ...outcome, reason: text, text };
    case 'pending':
      return { ...outcome, text };
  }
}

/** Most values are their own text: those need not be written twice to be measured. */
function toText(value: unknown, text: string): string {
  if (typeof value === 'string') return value;
  const json = toJson(value);
  return json === text ? text : json;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
