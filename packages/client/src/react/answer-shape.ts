import type { Card } from './card.ts';
import { isFields } from './input-parts.ts';

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
    text: valueInWords(one),
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
  if (!isFields(schema)) return undefined;
  if (!isFields(schema.properties)) return { schema };
  const [[name, inner] = ['', undefined], ...others] = Object.entries(schema.properties);
  return others.length === 0 && isFields(inner) ? { schema: inner, name } : undefined;
}

/** The question in an input, as text, and the rest of the input. */
export function questionOf(input: unknown): { readonly question: string | undefined; readonly rest: Schema } {
  if (typeof input === 'string') return { question: input, rest: {} };
  if (!isFields(input)) return { question: undefined, rest: {} };
  const texts = Object.entries(input).filter(([, value]) => typeof value === 'string');
  const asked = texts.find(([name]) => QUESTION.test(name)) ?? (texts.length === 1 ? texts[0] : undefined);
  if (asked === undefined) return { question: undefined, rest: input };
  const { [asked[0]]: _asked, ...rest } = input;
  return { question: asked[1] as string, rest };
}

const QUESTION = /^(question|message|prompt|text|title|summary|description)$/i;

/** A whole value as a person would say it: `Yes`, a text as it is, `city: Tokyo, nights: 3`. */
export function valueInWords(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' ? value : (fieldsInWords(value) ?? JSON.stringify(value) ?? 'nothing');
}

/** For an object of simple fields. */
function fieldsInWords(value: unknown): string | undefined {
  if (!isFields(value)) return undefined;
  const fields = Object.entries(value);
  if (fields.length === 0 || fields.some(([, one]) => typeof one === 'object' && one !== null)) return undefined;
  return fields.map(([name, one]) => `${name}: ${String(one)}`).join(', ');
}
