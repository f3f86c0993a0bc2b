import type { Field, Shape } from './field.ts';
import { type Problem, pathTo } from './path.ts';

/** What the user typed, as text: also for a number, a choice (as JSON) or a JSON value. Empty means nothing yet. */
export type Draft = string | readonly Draft[] | { readonly [name: string]: Draft };

/** The draft that shows a value. If the value is undefined, the schema's defaults. */
export function toDraft({ shape, initial }: Field, value: unknown = initial): Draft {
  switch (shape.kind) {
    case 'text':
      return typeof value === 'string' ? value : '';
    case 'number':
      return typeof value === 'number' ? String(value) : '';
    case 'choice':
      return value === undefined || value === null ? '' : JSON.stringify(value);
    case 'choices':
      return Array.isArray(value) ? value.map((one) => JSON.stringify(one)) : [];
    case 'list':
      return Array.isArray(value) ? value.map((one) => toDraft(shape.item, one)) : [];
    case 'object':
      return objectDraft(shape, value);
    case 'fixed':
      return '';
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2);
  }
}

/**
 * Under this name an object's draft keeps the fields that the form does not show, as JSON: they are sent back
 * unchanged.
 */
const REST = ' rest';

function objectDraft({ properties }: Extract<Shape, { kind: 'object' }>, value: unknown): Draft {
  const object = toRecord(value);
  const drafts = properties.map(({ name, field }) => [name, toDraft(field, own(object, name))] as const);
  const rest = Object.entries(object).filter(([name]) => !properties.some((one) => one.name === name));
  return Object.fromEntries(
    rest.length === 0 ? drafts : [...drafts, [REST, JSON.stringify(Object.fromEntries(rest))] as const],
  );
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export interface Read {
  /** Undefined if the field is left out. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
}

interface ReadOptions {
  readonly path?: string;
  readonly isRequired?: boolean;
  /**
   * The value that the draft began with. What was not edited keeps it: an empty text, list or null looks like a field that was not filled in,
   * and would be left out or refused.
   */
  readonly before?: unknown;
}

/** The value of a draft, and what cannot be read in it. The schema's other rules are checked elsewhere. */
export function readDraft(field: Field, draft: Draft, options: ReadOptions = {}): Read {
  const { path = '', isRequired = true, before } = options;
  const { shape } = field;
  if (before !== undefined && shape.kind !== 'fixed' && isSame(draft, toDraft(field, before)))
    return { value: before, problems: [] };
  if (isEmpty(field, draft)) return readNothing(field, path, isRequired);
  switch (shape.kind) {
    case 'text':
      return { value: draft, problems: [] };
    case 'number':
      return readNumber(String(draft), shape.isInteger, path);
    case 'choice':
      return { value: JSON.parse(String(draft)), problems: [] };
    case 'choices':
      return { value: asList(draft).map((one) => JSON.parse(String(one))), problems: [] };
    case 'list': {
      const drafts = asList(draft);
      // If one was removed, it is not known which item of before an item was.
      const values: readonly unknown[] = Array.isArray(before) && before.length <= drafts.length ? before : [];
      const items = drafts.map((one, index) =>
        readDraft(shape.item, one, { path: pathTo(path, index), before: values[index] }),
      );
      return { value: items.map(({ value }) => value), problems: items.flatMap(({ problems }) => problems) };
    }
    case 'object':
      return readObject(shape, draft, path, before);
    case 'fixed':
      return { value: shape.value, problems: [] };
    case 'json':
      return readJson(String(draft), path);
  }
}

function readObject(
  { properties }: Extract<Shape, { kind: 'object' }>,
  draft: Draft,
  path: string,
  before?: unknown,
): Read {
  const drafts = draft as Readonly<Record<string, Draft>>;
  const values = toRecord(before);
  const parts = properties.map(({ name, field, isRequired }) => ({
    name,
    ...readDraft(field, drafts[name] ?? '', { path: pathTo(path, name), isRequired, before: own(values, name) }),
  }));
  const rest = typeof drafts[REST] === 'string' ? (JSON.parse(drafts[REST]) as object) : {};
  const known = parts.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]);
  return { value: { ...rest, ...Object.fromEntries(known) }, problems: parts.flatMap(({ problems }) => problems) };
}

/** A required list may be empty; a required object reports its missing required fields. */
function readNothing(field: Field, path: string, isRequired: boolean): Read {
  const { shape, isNullable } = field;
  if (!isRequired) return { value: undefined, problems: [] };
  if (isNullable) return { value: null, problems: [] };
  if (shape.kind === 'fixed') return { value: shape.value, problems: [] };
  if (shape.kind === 'list' || shape.kind === 'choices') return { value: [], problems: [] };
  if (shape.kind === 'object') return readObject(shape, {}, path);
  const message = shape.kind === 'choice' ? 'Choose one.' : 'Fill this in.';
  return { value: undefined, problems: [{ path, message }] };
}

function isSame(one: Draft, other: Draft): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isEmpty({ shape }: Field, draft: Draft): boolean {
  if (shape.kind === 'fixed') return true;
  if (typeof draft === 'string') return shape.kind === 'text' ? draft === '' : draft.trim() === '';
  if (Array.isArray(draft)) return draft.length === 0;
  if (shape.kind !== 'object') return false;
  const drafts = draft as Readonly<Record<string, Draft>>;
  return drafts[REST] === undefined && shape.properties.every(({ name, field }) => isEmpty(field, drafts[name] ?? ''));
}

function readNumber(text: string, isInteger: boolean, path: string): Read {
  const value = Number(text.trim());
  if (Number.isFinite(value) && (!isInteger || Number.isInteger(value))) return { value, problems: [] };
  const message = isInteger ? 'Write a whole number, e.g. 3.' : 'Write a number, e.g. 3 or 2.5.';
  return { value: undefined, problems: [{ path, message }] };
}

export function readJson(text: string, path = ''): Read {
  try {
    return { value: JSON.parse(text), problems: [] };
  } catch (error) {
    return { value: undefined, problems: [{ path, message: `This is not JSON: ${(error as Error).message}` }] };
  }
}

/** The paths at which the form can show a problem. */
export function fieldPaths(field: Field, draft: Draft, path = ''): ReadonlySet<string> {
  const { shape } = field;
  if (shape.kind === 'object') {
    const drafts = draft as Readonly<Record<string, Draft>>;
    const below = shape.properties.flatMap(({ name, field: part }) => [
      ...fieldPaths(part, drafts[name] ?? '', pathTo(path, name)),
    ]);
    // The whole form has no place to show a problem.
    return new Set(path === '' ? below : [path, ...below]);
  }
  if (shape.kind !== 'list' || !Array.isArray(draft)) return new Set([path]);
  return new Set([
    path,
    ...draft.flatMap((one: Draft, index) => [...fieldPaths(shape.item, one, pathTo(path, index))]),
  ]);
}

function asList(draft: Draft): readonly Draft[] {
  return Array.isArray(draft) ? draft : [];
}
