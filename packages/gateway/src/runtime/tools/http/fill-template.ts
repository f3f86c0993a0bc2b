import { ToolValidationError } from '@lastcall/core';
import type { Placeholder, Template } from '../../../config/template.ts';

/** The values that a call fills in. */
export interface Values {
  readonly input: unknown;
  /** Returns the secret of that name. Throws if it may not be used. */
  secret(name: string): string;
}

/**
 * Fills a template. If the template is a single placeholder, the value keeps its type; inside text it becomes text.
 * Returns undefined if a value is missing. Inserted values are never read as templates.
 */
export function fillValue(template: Template, values: Values): unknown {
  const [only] = template;
  if (template.length === 1 && only !== undefined && typeof only !== 'string') return readValue(only, values);
  return fillText(template, values);
}

/** Fills a template with text. `encode` is applied only to the values, not to the text around them. */
export function fillText(
  template: Template,
  values: Values,
  encode: (text: string) => string = (text) => text,
): string | undefined {
  let filled = '';
  for (const part of template) {
    const text = typeof part === 'string' ? part : toText(readValue(part, values));
    if (text === undefined) return undefined;
    filled += typeof part === 'string' ? part : encode(text);
  }
  return filled;
}

/** Text and numbers unchanged, other values as JSON. Null is not text. */
export function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The first missing value of the template, as its author wrote it. */
export function missingIn(template: Template, values: Values): string {
  const missing = template.find((part) => typeof part !== 'string' && toText(readValue(part, values)) === undefined);
  return missing === undefined || typeof missing === 'string' || 'env' in missing
    ? 'a value'
    : ['input', ...missing.input].join('.');
}

export function required<T>(value: T | undefined, what: string): T {
  if (value === undefined)
    throw new ToolValidationError(`${what} is missing, and the request cannot be made without it.`);
  return value;
}

function readValue(placeholder: Placeholder, { input, secret }: Values): unknown {
  if ('env' in placeholder) return secret(placeholder.env);
  let value = input;
  for (const key of placeholder.input) {
    // Only own properties are read: `{{input.constructor.name}}` is not part of the input.
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
