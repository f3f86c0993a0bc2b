import type { Answer } from '@lastcall/client';
import type { Card } from '@lastcall/client/react';

/** Which component shows a waiting call whose tool names none. */
export type CardKind = 'approve' | 'confirm' | 'choose' | 'form';

export function cardKind({ kind, resultSchema }: Pick<Card, 'kind' | 'resultSchema'>): CardKind {
  if (kind === 'approval') return 'approve';
  if (yesAndNo(resultSchema) !== undefined) return 'confirm';
  return choicesOf(resultSchema) === undefined ? 'form' : 'choose';
}

/** The results that mean yes and no, for a boolean or an object whose only property is one. */
export function yesAndNo(schema: unknown): { readonly yes: unknown; readonly no: unknown } | undefined {
  return wrapped(
    schema,
    (inner) => (inner.type === 'boolean' && inner.enum === undefined ? [true, false] : undefined),
    {
      to: ([yes, no]) => ({ yes, no }),
    },
  );
}

/** The results to choose from, with their labels, for an enum or an object whose only property is one. */
export function choicesOf(schema: unknown): readonly { readonly text: string; readonly value: unknown }[] | undefined {
  const texts = wrapped(schema, (inner) => (Array.isArray(inner.enum) ? inner.enum : undefined), { to: (all) => all });
  const inner = innerOf(schema);
  if (texts === undefined || inner === undefined) return undefined;
  return (inner.schema.enum as readonly unknown[]).map((one, index) => ({
    text: wholeInWords(one),
    value: texts[index],
  }));
}

type Schema = Readonly<Record<string, unknown>>;

function wrapped<T>(
  schema: unknown,
  values: (inner: Schema) => readonly unknown[] | undefined,
  { to }: { to: (values: readonly unknown[]) => T },
): T | undefined {
  const inner = innerOf(schema);
  const found = inner === undefined ? undefined : values(inner.schema);
  if (inner === undefined || found === undefined || found.length === 0) return undefined;
  return to(inner.name === undefined ? found : found.map((one) => ({ [inner.name as string]: one })));
}

/** The schema itself, or that of the only property of an object. */
function innerOf(schema: unknown): { readonly schema: Schema; readonly name?: string } | undefined {
  if (!isSchema(schema)) return undefined;
  if (!isSchema(schema.properties)) return { schema };
  const [[name, inner] = ['', undefined], ...others] = Object.entries(schema.properties);
  return others.length === 0 && isSchema(inner) ? { schema: inner, name } : undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The question in an input, as text, and the rest of the input. */
export function questionOf(input: unknown): { readonly question: string | undefined; readonly rest: Schema } {
  if (typeof input === 'string') return { question: input, rest: {} };
  if (!isSchema(input)) return { question: undefined, rest: {} };
  const texts = Object.entries(input).filter(([, value]) => typeof value === 'string');
  const asked = texts.find(([name]) => QUESTION.test(name)) ?? (texts.length === 1 ? texts[0] : undefined);
  if (asked === undefined) return { question: undefined, rest: input };
  const { [asked[0]]: _asked, ...rest } = input;
  return { question: asked[1] as string, rest };
}

const QUESTION = /^(question|message|prompt|text|title|summary|description)$/i;

/** An answer, as a person would say it. */
export function answerInWords(answer: Answer): string {
  if ('approve' in answer) return answer.input === undefined ? 'Approved' : 'Approved with changes';
  if ('deny' in answer) return `Denied: ${answer.deny}`;
  if ('error' in answer) return `Failed: ${answer.error}`;
  return resultInWords(answer.result);
}

export function resultInWords(result: unknown): string {
  const values = isSchema(result) ? Object.values(result) : [];
  return inWords(values.length === 1 ? values[0] : result);
}

/** A value in one line, truncated if it is long. */
export function inWords(value: unknown): string {
  const line = wholeInWords(value)
    .slice(0, LINE + 1)
    .replace(/\s+/g, ' ');
  return line.length > LINE ? `${line.slice(0, LINE)} …` : line;
}

function wholeInWords(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' ? value : (fieldsInWords(value) ?? JSON.stringify(value) ?? 'nothing');
}

/** Longer texts take more than one line. */
const LINE = 160;

/** `city: Tokyo, nights: 3`, for an object of simple fields. */
function fieldsInWords(value: unknown): string | undefined {
  if (!isSchema(value)) return undefined;
  const fields = Object.entries(value);
  if (fields.length === 0 || fields.some(([, one]) => typeof one === 'object' && one !== null)) return undefined;
  return fields.map(([name, one]) => `${name}: ${String(one)}`).join(', ');
}

/** `{ receipt: 2, of: 4 }`, `{ percent: 40 }` or 0.4, as a fraction and in words. */
export function progressOf(value: unknown): { readonly part?: number; readonly words: string } {
  if (typeof value === 'number' && value >= 0 && value <= 1)
    return { part: value, words: `${Math.round(value * 100)} %` };
  if (!isSchema(value)) return { words: inWords(value) };
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
