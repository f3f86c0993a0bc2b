import type { StandardSchemaV1 } from '@standard-schema/spec';
import { PromptValidationError } from '../errors.ts';
import type { Policy } from '../policies/policy.ts';
import { describeError } from '../results/describe-error.ts';
import type { Session } from '../session/session.ts';
import type { AnySlice } from '../session/slice.ts';
import { type KnownNames, knownNames, unknownName } from '../unknown-option.ts';
import { assertToolSet, type ToolSet } from './tool-set.ts';

/** `full` shows the text and offers the tools; `summary` shows the summary and how to open the section. */
export type Visibility = 'full' | 'summary';

/** The argument of a section's predicates. */
export interface SectionContext {
  readonly session: Session;
  /** The parameters passed to `render`, with the section's own defaults. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** A part of a system prompt that includes its tools. `P` is the argument of its template. */
export interface SectionDefinition<P = Record<string, unknown>> {
  /** Its name among its siblings: not empty and without a dot, because dots join keys to paths. */
  key: string;
  title: string;
  /** `{{name}}` stands for a parameter of this section; `\{{` is a literal `{{`. */
  template: string | ((params: P) => string);
  /** A schema of an object (a JSON Schema with `type: 'object'`), or default values by name. */
  params?: StandardSchemaV1<unknown, P> | Readonly<Record<string, unknown>>;
  tools?: ToolSet;
  /** State that the section's tools need. Rendering registers it in the session. */
  slices?: readonly AnySlice[];
  /** Default true. If false, the section, its children and their tools are left out. */
  enabled?: boolean | ((ctx: SectionContext) => boolean);
  /** Default 'full'. */
  visibility?: Visibility | ((ctx: SectionContext) => Visibility);
  /**
   * Shown instead of the full text, with the same placeholders. Required unless the section is always shown in full.
   */
  summary?: string;
  children?: readonly Section[];
  /** Rules about the calls of its tools and of its children's. */
  policies?: readonly Policy[];
}

/** A checked section. A plain object: a spread copy with another key is a section again. */
export type Section = Readonly<Omit<SectionDefinition, 'template' | 'params'>> & {
  readonly template: string | ((params: never) => string);
  readonly params?: StandardSchemaV1 | Readonly<Record<string, unknown>>;
};

/** Defines a section. Names and placeholders are checked by `prompt()`, which knows the whole tree. */
export function section<P = Record<string, unknown>>(definition: SectionDefinition<P>): Section {
  const path = shownKey(definition);
  assertSection(definition, path);
  const unknown = unknownName(definition, KNOWN);
  if (unknown !== undefined) throw new PromptValidationError(`Section "${path}": ${unknown.field} ${unknown.problem}`);
  return Object.freeze({ ...definition });
}

const KNOWN: KnownNames = knownNames<SectionDefinition>(
  {
    key: true,
    title: true,
    template: true,
    params: true,
    tools: true,
    slices: true,
    enabled: true,
    visibility: true,
    summary: true,
    children: true,
    policies: true,
  },
  { body: 'template', text: 'template', content: 'template', sections: 'children', name: 'key' },
);

/** Throws if a field is invalid. `prompt()` calls it again, because a spread copy may hold anything. */
export function assertSection(definition: unknown, path: string): asserts definition is Section {
  if (typeof definition !== 'object' || definition === null) {
    throw new PromptValidationError(
      `A section must come from section(), not ${definition === null ? 'null' : `a ${typeof definition}`}.`,
    );
  }
  const fields = definition as Readonly<Record<string, unknown>>;
  for (const [field, isRight, expected] of FIELDS) {
    if (!isRight(fields[field])) throw new PromptValidationError(`Section "${path}": ${field} must be ${expected}.`);
  }
  assertTools(fields.tools, path);
  if (!isFullAlways(fields.visibility) && fields.summary === undefined) {
    throw new PromptValidationError(`Section "${path}": summary is missing, and its visibility may ask for it.`);
  }
}

export function isFullAlways(visibility: unknown): boolean {
  return visibility === undefined || visibility === 'full';
}

/** The key, if there is one, for messages. */
export function shownKey(definition: unknown): string {
  const key = typeof definition === 'object' && definition !== null ? (definition as { key?: unknown }).key : undefined;
  return typeof key === 'string' ? key : '(unnamed)';
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isLine = (value: unknown): boolean => isText(value) && !/[\r\n]/.test(value as string);
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNamed = (value: unknown): boolean => isObject(value) && isText((value as { name?: unknown }).name);
const isListOf =
  (isItem: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(isItem);
const optional =
  (isRight: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || isRight(value);

const FIELDS: readonly (readonly [field: string, isRight: (value: unknown) => boolean, expected: string])[] = [
  ['key', (value) => typeof value === 'string', 'a text'],
  ['title', isLine, 'one line of text'],
  ['template', (value) => typeof value === 'string' || isFunction(value), 'a text or a function of the parameters'],
  ['params', optional((value) => isObject(value) || isFunction(value)), 'a schema, or default values by name'],
  ['slices', optional(isListOf((value) => isNamed(value) && 'on' in (value as object))), 'an array of slices'],
  ['enabled', optional((value) => typeof value === 'boolean' || isFunction(value)), 'true, false or a function'],
  [
    'visibility',
    optional((value) => value === 'full' || value === 'summary' || isFunction(value)),
    "'full', 'summary' or a function",
  ],
  ['summary', optional(isText), 'a text that is not empty'],
  ['children', optional(Array.isArray), 'an array of sections'],
  ['policies', optional(isListOf(isNamed)), 'an array of policies, each with a name'],
];

function assertTools(tools: unknown, path: string): void {
  if (tools === undefined) return;
  try {
    assertToolSet(tools, 'tools');
  } catch (cause) {
    throw new PromptValidationError(`Section "${path}": ${describeError(cause).message}`, { cause });
  }
}
