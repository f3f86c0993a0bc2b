import type { Answer, JsonSchemaObject } from '@lastcall/core';
import { parseJson } from '@lastcall/core/internal';
import type { InputRequest } from '@modelcontextprotocol/server';
import { withoutPatterns } from '../../config/without-patterns.ts';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { clip } from '../../domain/transcript/clip.ts';
import { toJson } from '../../ports/store/schema/json.ts';

/**
 * A waiting call as a question to the MCP client. Accepting the form approves the call, declining it denies the call. A result is
 * asked for field by field if its schema is flat, and otherwise as JSON text, since forms only have flat fields.
 */
export function toQuestion(call: WaitingCall, problem?: string): InputRequest {
  const { toolName, kind, input } = call;
  // An approval covers the whole input, so the whole input is shown.
  const text = kind === 'approval' ? visible(toJson(input)) : clip(visible(toJson(input)), LONGEST_INPUT);
  const message = toMessage(call, `"${toolName}" with ${text}`);
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: problem === undefined ? message : `${problem} ${message}`,
      requestedSchema: toForm(call) as never,
    },
  };
}

const LONGEST_INPUT = 2_000;

function toMessage(call: WaitingCall, about: string): string {
  if (call.kind === 'approval') return `Approve the call of ${about}?`;
  return call.kind === 'input' ? `${about} asks: ${visible(questionOf(call))}` : `${about} waits for its result.`;
}

/** What a call that waits for input asks. */
export function questionOf({ display }: WaitingCall): string {
  return typeof display?.text === 'string' ? display.text : '';
}

/** The answer of the client's user. Undefined if there is none yet. */
export type Said = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: unknown };

/** The answer to the call. Undefined if the user dismissed the question: the call keeps waiting. */
export function toAnswer(call: WaitingCall, { action, content }: Said): Answer | undefined {
  if (action === 'cancel') return undefined;
  if (call.kind === 'approval') return action === 'accept' ? { approve: true } : { deny: 'The caller declined.' };
  return action === 'accept' ? { result: toValue(call, content) } : { error: 'The caller declined to answer.' };
}

function toForm(call: WaitingCall): JsonSchemaObject {
  if (call.kind === 'approval') return { type: 'object', properties: {} };
  const flat = flatForm(call.resultSchema);
  if (flat !== undefined) return flat;
  const { resultSchema } = call;
  const description =
    resultSchema === undefined ? 'The result.' : `The result, as JSON of this schema: ${toJson(resultSchema)}`;
  return { type: 'object', properties: { result: { type: 'string', description } }, required: ['result'] };
}

/** The answer is checked against the tool's schema when it is stored, not here. */
function toValue({ resultSchema }: WaitingCall, content: unknown): unknown {
  if (flatForm(resultSchema) !== undefined) return content ?? {};
  const { result } = (content ?? {}) as { readonly result?: unknown };
  if (resultSchema === undefined || typeof result !== 'string') return result ?? null;
  try {
    return parseJson(result);
  } catch {
    return result;
  }
}

/** The schema itself, if every field is a text, a number, a boolean, or one or more of several words. */
function flatForm(schema: JsonSchemaObject | undefined): JsonSchemaObject | undefined {
  const { type, properties } = (schema ?? {}) as { readonly type?: unknown; readonly properties?: unknown };
  if (schema === undefined || type !== 'object' || typeof properties !== 'object' || properties === null)
    return undefined;
  const { required } = schema as { readonly required?: unknown };
  if (!Object.values(properties).every(isFlat)) return undefined;
  return withoutPatterns({ type: 'object', properties, ...(required === undefined ? {} : { required }) } as never);
}

const FLAT: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

function isFlat(field: unknown): boolean {
  const { type, items } = (field ?? {}) as { readonly type?: unknown; readonly items?: unknown };
  return FLAT.has(type) || (type === 'array' && isChoice(items));
}

function isChoice(items: unknown): boolean {
  const choices = (items ?? {}) as { readonly enum?: unknown; readonly anyOf?: unknown };
  return Array.isArray(choices.enum) || Array.isArray(choices.anyOf);
}

/**
 * A text with invisible characters escaped as in JSON. A character that changes the direction of text, or one that is not drawn,
 * could show a person something else than what they approve.
 */
function visible(text: string): string {
  return text.replace(HIDDEN, (character) =>
    [...new Array(character.length).keys()].map((at) => escapeAt(character, at)).join(''),
  );
}

const HIDDEN = /(?!\n)[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u2800]/gu;

/** JSON escapes each half of a surrogate pair separately. */
function escapeAt(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
}
