import type { Outcome } from '@lastcall/core';
import { toJson } from '../../ports/store/schema/json.ts';
import { fileParts, fullText } from './full-output.ts';

export interface OutputLimits {
  /** How many bytes of an output the model, a card and a stream are shown. */
  readonly outputBytes: number;
  /** How many bytes of an output are stored to be read back. */
  readonly keptOutputBytes: number;
}

/** What an outcome records about the part of its output that is not shown. */
interface OutputCut {
  /** The length of the complete output, in the characters that `read_output` counts. */
  readonly characters: number;
  /** True if the complete output can be read back. */
  readonly kept: boolean;
}

export type CutOutcome = Outcome & { readonly cut?: OutputCut };

/**
 * Cuts the output at the limit, and says so in the text. Returns the outcome itself if nothing is over it. The status stays: a
 * large output is not a failure.
 */
export function cutOutcome(outcome: Outcome, callId: string, limits: OutputLimits): CutOutcome {
  const { outputBytes, keptOutputBytes } = limits;
  const value = outcome.status === 'ok' ? toText(outcome.value, outcome.text) : '';
  // A reply's text for people is part of its value.
  const [valueBytes, textBytes] = [bytesOf(value), bytesOf(fullText(outcome))];
  if (valueBytes <= outputBytes && textBytes <= outputBytes) return outcome;
  const cut: OutputCut = {
    characters: fullText(outcome).length,
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

/** Returns as much of the text as fits into the bytes, in complete characters. */
function headOf(text: string, bytes: number): string {
  // Every character takes at least one byte.
  if (text.length <= bytes && bytesOf(text) <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** Cuts a text for people who see a card or a stream. They have no tool to read the rest. */
export function cutForPeople(text: string, bytes: number): string {
  const head = headOf(text, bytes);
  if (head.length === text.length) return text;
  return `${head}\n[cut: the first ${head.length} of ${text.length} characters are shown]`;
}

interface KeptOutput {
  readonly callId: string;
  readonly head: string;
  readonly cut: OutputCut;
}

function keptMark(outcome: Outcome, { callId, head, cut }: KeptOutput): string {
  const files = fileParts(outcome).map(({ mediaType }) => mediaType);
  const leftOut = files.length === 0 ? '' : ` Files left out: ${files.join(', ')}.`;
  return `[output cut: the first ${head.length} of ${cut.characters} characters are shown.${leftOut} The full output is stored as ${callId}: use read_output with offset ${head.length} to read on]`;
}

interface DroppedOutput {
  readonly head: string;
  readonly textBytes: number;
  readonly keptOutputBytes: number;
}

function lostMark({ status }: Outcome, { head, textBytes, keptOutputBytes }: DroppedOutput): string {
  const ran = status === 'ok' ? 'The tool ran and succeeded, and its effects remain. ' : '';
  return `[output dropped: ${ran}Its output has ${textBytes} bytes, more than the ${keptOutputBytes} that are stored. The first ${head.length} characters are shown; the rest was dropped and cannot be read]`;
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

/** Most values are their own text, and need not be serialized twice to be measured. */
function toText(value: unknown, text: string): string {
  if (typeof value === 'string') return value;
  const json = toJson(value);
  return json === text ? text : json;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
