import type { Entry, Outcome } from '@lastcall/core';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { CallRow, Json, SearchKind } from '../../ports/store/schema/tables.ts';
import { inputOf, toConversation } from '../conversations/to-messages.ts';
import { ERASED } from '../erasure/mark.ts';
import { isFrame } from '../frame.ts';
import { outputText } from '../runs/output-text.ts';
import { isSpoken } from '../transcript/machine-rows.ts';
import { fromEntryPayload } from '../transcript/transcript-row.ts';

/** Only the beginning of a longer text is found. */
const MOST_CHARACTERS = 50_000;

/** A text of a source that can be found. */
export interface FoundText {
  readonly kind: SearchKind;
  readonly text: string;
  readonly at: number;
}

export type SearchedCall = Pick<CallRow, 'tool_name' | 'input' | 'outcome' | 'created_at' | 'settled_at'>;

/** What a call was given, and what it gave. */
export function textsOfCall(call: SearchedCall): readonly FoundText[] {
  const text = `${call.tool_name} ${inWords(inputOf(read(call.input)))}`;
  const given: FoundText = { kind: 'input', text: cut(text), at: call.created_at };
  const ended = call.outcome === null ? undefined : textOfOutcome(read<Outcome>(call.outcome));
  if (ended === undefined || isNothing(ended.text)) return [given];
  return [given, { kind: ended.kind, text: cut(ended.text), at: call.settled_at ?? call.created_at }];
}

function textOfOutcome(outcome: Outcome | undefined): Pick<FoundText, 'kind' | 'text'> | undefined {
  if (outcome?.status === 'ok') return { kind: 'output', text: outputText(outcome) };
  if (outcome?.status === 'error') return { kind: 'error', text: outcome.text };
  return undefined;
}

/** Why a run failed. */
export function textOfStop(stop: string | null, at: number): FoundText | undefined {
  if (stop === null) return undefined;
  const error = read<{ readonly error?: unknown }>(stop)?.error;
  return typeof error !== 'string' || isNothing(error) ? undefined : { kind: 'error', text: cut(error), at };
}

/** What a person or an agent said in a conversation. The gateway's own words are left out. */
export function textOfEntry(payload: string, at: number): FoundText | undefined {
  const entry = readEntry(payload);
  if (entry === undefined || !isSpoken(entry) || (entry.kind === 'message' && isFrame(entry.message))) return undefined;
  const said = toConversation([entry]).flatMap((one) => ('message' in one ? [one.message] : []));
  const text = said.join('\n');
  return isNothing(text) ? undefined : { kind: 'message', text: cut(text), at };
}

export function textOfMessage(content: string, at: number): FoundText | undefined {
  const text = read<string>(content) ?? '';
  return isNothing(text) ? undefined : { kind: 'message', text: cut(text), at };
}

/** A damaged value has no text. An error would keep every later text of all agents out of the index. */
function read<T>(text: Json): T | undefined {
  return orNothing(() => fromJson<T>(text));
}

function readEntry(payload: Json): Entry | undefined {
  return orNothing(() => fromEntryPayload(payload).entry);
}

function orNothing<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function isNothing(text: string): boolean {
  return text === '' || text === ERASED;
}

function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text;
}

/** A value as a person reads it: `city: Tokyo, nights: 2`. */
function inWords(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return value === null ? '' : String(value);
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  return Object.entries(value)
    .map(([key, one]) => `${key}: ${inWords(one)}`)
    .join(', ');
}
