import type { JsonSchemaObject } from '@lastcall/core';
import { dataSchema } from '../../../config/data-schema.ts';
import { withoutPatterns } from '../../../config/without-patterns.ts';
import type { PeopleAnswer, Question } from './people.ts';

/** The requests of a server in one question, by the server's keys. */
export type InputRequests = Readonly<Record<string, unknown>>;

/** The answer that a server gets. */
export interface InputResponse {
  readonly action: 'accept' | 'decline';
  readonly content?: unknown;
}

const LONGEST_TEXT = 4_000;
const NOTHING: JsonSchemaObject = { type: 'object', properties: {}, additionalProperties: false };

/** Reads a server's question. `problem` says why it cannot be asked. */
export function readQuestion(requests: InputRequests): Question | { readonly problem: string } {
  const keys = Object.keys(requests);
  const read = keys.map((key) => readRequest(requests[key]));
  const problem = read.find((one) => 'problem' in one);
  if (problem !== undefined) return problem;
  const questions = read as readonly Question[];
  const text = questions.map((one) => one.text).join('\n\n');
  const [first] = questions;
  if (questions.length === 1 && first !== undefined) return { text, schema: first.schema };
  const properties = Object.fromEntries(keys.map((key, index) => [key, questions[index]?.schema ?? NOTHING]));
  return { text, schema: { type: 'object', properties, required: keys, additionalProperties: false } };
}

/** The responses for the server: each request gets its part of the answer, or all are declined. */
export function toResponses(keys: readonly string[], answer: PeopleAnswer): Readonly<Record<string, InputResponse>> {
  return Object.fromEntries(
    keys.map((key): [string, InputResponse] => {
      if ('error' in answer) return [key, { action: 'decline' }];
      const { result } = answer;
      const content = keys.length === 1 ? result : (result as Readonly<Record<string, unknown>> | null)?.[key];
      return [key, { action: 'accept', content: content ?? {} }];
    }),
  );
}

function readRequest(request: unknown): Question | { readonly problem: string } {
  const { method, params } = (request ?? {}) as { readonly method?: unknown; readonly params?: unknown };
  const { mode = 'form', message, url, requestedSchema } = (params ?? {}) as Readonly<Record<string, unknown>>;
  if (method !== 'elicitation/create')
    return { problem: `it asks for "${short(method, 100)}", which is not supported` };
  const text = short(message ?? '', LONGEST_TEXT);
  if (mode === 'url') return readUrl(text, url);
  if (mode !== 'form') return { problem: `it asks in an unknown mode: "${short(mode, 100)}"` };
  const isSchema = typeof requestedSchema === 'object' && requestedSchema !== null;
  if (!isSchema) return { problem: 'it asks without a schema for the answer' };
  return readForm(text, requestedSchema as JsonSchemaObject);
}

/** A form is not shown if answers could not be checked against its schema. */
function readForm(text: string, requested: JsonSchemaObject): Question | { readonly problem: string } {
  try {
    dataSchema(requested);
    return { text, schema: withoutPatterns(requested) };
  } catch (error) {
    return { problem: `it asks with a schema that cannot be used: ${short((error as Error).message, 200)}` };
  }
}

/**
 * The URL is shown as text, and the person who reads it decides whether to open it. Other schemes could start programs.
 */
function readUrl(text: string, url: unknown): Question | { readonly problem: string } {
  const isWeb = typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url) && url.length <= LONGEST_TEXT;
  if (!isWeb) return { problem: 'it asks to open a URL that is not http or https' };
  return {
    text: `${text}\n\nOpen this page in a browser, and answer when you are done: ${new URL(url).href}`,
    schema: NOTHING,
  };
}

function short(value: unknown, length: number): string {
  return String(value).slice(0, length).toWellFormed();
}
