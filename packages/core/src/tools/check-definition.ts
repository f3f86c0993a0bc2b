import { TOOL, type ToolMark } from '../contract/tool-mark.ts';
import { nameProblem } from '../contract/tool-name.ts';
import { ToolDefinitionError } from '../errors.ts';
import { isPolicy, POLICIES } from '../policies/policy.ts';
import { describeError } from '../results/describe-error.ts';
import { renderValue } from '../results/render.ts';
import { compileOutputSchema, compileSchema } from '../schema/compiled-schema.ts';
import type { CompiledSchema, SchemaResult } from '../schema/schema-result.ts';
import type { ToolDefinition } from './tool-definition.ts';

/** The limit in characters. Tools from other sources have longer descriptions, and must still work. */
export function longestDescription(origin: 'lastcall' | 'data' | 'ai-sdk' | 'provider'): number {
  return origin === 'lastcall' ? 1_024 : 4_096;
}

/** The definition with its description trimmed, or a ToolDefinitionError that names the tool and the field. */
export function checkDefinition(definition: ToolDefinition, name: string): ToolDefinition {
  if (typeof definition !== 'object' || definition === null) {
    throw new ToolDefinitionError(
      name,
      'definition',
      `must be an object, not ${definition === null ? 'null' : typeof definition}.`,
    );
  }
  checkName(definition, name);
  checkFields(definition, name);
  const input = compileField(name, 'inputSchema', () => compileSchema(definition.inputSchema));
  const output =
    definition.outputSchema === undefined
      ? undefined
      : compileField(name, 'outputSchema', () => compileOutputSchema(definition.outputSchema));
  checkExamples(definition, name, input, output);
  const origin = (definition as Partial<ToolMark>)[TOOL] === 'data' ? 'data' : 'lastcall';
  return { ...definition, description: checkDescription(definition.description, name, longestDescription(origin)) };
}

/** The trimmed text. A function is checked when it is called. */
export function checkDescription<D>(description: D, name: string, longest: number): D | string {
  if (typeof description === 'function') return description;
  if (typeof description !== 'string') {
    throw new ToolDefinitionError(
      name,
      'description',
      `must be a text or a function of the session, not ${typeof description}.`,
    );
  }
  const trimmed = description.trim();
  const length = [...trimmed].length;
  if (length >= 1 && length <= longest) return trimmed;
  throw new ToolDefinitionError(name, 'description', `must be 1–${longest} characters after trimming, not ${length}.`);
}

function checkName(definition: ToolDefinition, name: string): void {
  if (definition.name === undefined) return;
  const problem = nameProblem(definition.name);
  if (problem !== undefined) throw new ToolDefinitionError(String(name), 'name', `${problem}.`);
}

type FieldCheck = readonly [field: keyof ToolDefinition, isRight: (value: unknown) => boolean, expected: string];

const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

const FIELDS: readonly FieldCheck[] = [
  ['id', isText, 'must be a text that is not empty'],
  ['execute', isFunction, 'must be a function'],
  ['terminal', isBoolean, 'must be true or false'],
  [
    'effects',
    (value) => value === 'none' || value === 'session' || value === 'external',
    "must be 'none', 'session' or 'external'",
  ],
  ['idempotent', isBoolean, 'must be true or false'],
  [
    'timeoutMs',
    (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
    'must be a number of milliseconds above 0',
  ],
  ['approval', (value) => isBoolean(value) || isFunction(value), 'must be true, false or a function'],
  ['keepLatest', isText, "must be the slot's name"],
  ['examples', Array.isArray, 'must be an array'],
  ['render', isFunction, 'must be a function'],
  ['compensate', isFunction, 'must be a function'],
  ['forbidsRewind', isBoolean, 'must be true or false'],
  ['transition', isBoolean, 'must be true or false'],
  ['policies', (value) => Array.isArray(value) && value.every(isPolicy), POLICIES],
  ['slices', (value) => Array.isArray(value) && value.every(isSlice), 'must be an array of slices made by slice()'],
];

/** Checks the optional fields, also in tools made elsewhere, which may have them too. */
export function checkFields(definition: Partial<ToolDefinition>, name: string): void {
  for (const [field, isRight, expected] of FIELDS) {
    const value: unknown = definition[field];
    if (value !== undefined && !isRight(value)) {
      throw new ToolDefinitionError(
        name,
        field,
        `${expected}, not ${renderValue(value).slice(0, 80) || typeof value}.`,
      );
    }
  }
}

function isSlice(value: unknown): boolean {
  const { name, on } = (value ?? {}) as { name?: unknown; on?: unknown };
  return isText(name) && typeof on === 'object' && on !== null;
}

function compileField(name: string, field: string, compile: () => CompiledSchema): CompiledSchema {
  try {
    return compile();
  } catch (cause) {
    throw new ToolDefinitionError(name, field, `cannot be used: ${describeError(cause).message}`, { cause });
  }
}

function checkExamples(
  definition: ToolDefinition,
  name: string,
  input: CompiledSchema,
  output: CompiledSchema | undefined,
): void {
  definition.examples?.forEach((example, index) => {
    const field = `examples[${index}]`;
    if (typeof example !== 'object' || example === null || !isText(example.description)) {
      throw new ToolDefinitionError(name, `${field}.description`, 'must be a text that is not empty.');
    }
    checkExample(name, `${field}.input`, input.validate(example.input));
    if (output !== undefined && 'output' in example)
      checkExample(name, `${field}.output`, output.validate(example.output));
  });
}

function checkExample(name: string, field: string, result: SchemaResult | Promise<SchemaResult>): void {
  if (result instanceof Promise) {
    throw new ToolDefinitionError(
      name,
      field,
      'cannot be checked, because its schema validates asynchronously. Leave the examples out.',
    );
  }
  if (result.ok) return;
  const problems = result.problems
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
  throw new ToolDefinitionError(name, field, `does not fit its schema: ${problems}`);
}
