import { type Check, fail, keysIn, type MakeCheck, type Run } from './check.ts';
import { equalJson, hasEqualItems } from './equal-json.ts';
import { FORMATS, formatSteps } from './formats.ts';
import type { JsonSchemaObject } from './json-schema-object.ts';
import type { Steps } from './steps.ts';
import { isSchemaObject, textsOf } from './subschemas.ts';
import { textLength } from './text-length.ts';

type Test<T> = (value: T, schema: JsonSchemaObject, run: Run) => boolean;
type Tests<T> = Readonly<Record<string, Test<T>>>;
type Checks = readonly (readonly [keyword: string, make: MakeCheck])[];

/** Checks of keywords that look at the value alone, without another schema. */
function assertions<T>(tests: Tests<T>): Checks {
  return Object.entries(tests).map(([keyword, test]) => [keyword, (schema) => assertion(keyword, schema, test)]);
}

function assertion<T>(keyword: string, schema: JsonSchemaObject, test: Test<T>): Check {
  return (value, context) => test(value as T, schema, context.run) || fail(context, { keyword, schema, value });
}

export const ANY_ASSERTIONS: Checks = assertions<unknown>({
  type: (value, { type }) => (Array.isArray(type) ? type.some((one) => isOfType(value, one)) : isOfType(value, type)),
  const: (value, schema, { steps }) => equalJson(value, schema.const, steps),
  enum: (value, schema, { steps }) =>
    Array.isArray(schema.enum) && schema.enum.some((one) => equalJson(value, one, steps)),
});

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

export const OBJECT_ASSERTIONS: Checks = assertions<Readonly<Record<string, unknown>>>({
  required: (value, { required }, { steps }) => hasAll(value, required, steps),
  minProperties: (value, { minProperties }, run) => keysIn(value, run).length >= Number(minProperties),
  maxProperties: (value, { maxProperties }, run) => keysIn(value, run).length <= Number(maxProperties),
  dependentRequired: (value, { dependentRequired }, { steps }) => hasAllBeside(value, dependentRequired, steps),
  dependencies: (value, { dependencies }, { steps }) => hasAllBeside(value, dependencies, steps),
});

function hasAll(value: object, names: unknown, steps: Steps): boolean {
  const wanted = textsOf(names);
  steps.take(wanted.length);
  return wanted.every((name) => Object.hasOwn(value, name));
}

/** If a name has a schema instead of a list, the schema is checked elsewhere. */
function hasAllBeside(value: object, lists: unknown, steps: Steps): boolean {
  const entries = isSchemaObject(lists) ? Object.entries(lists) : [];
  steps.take(entries.length);
  return entries.every(([name, names]) => !Object.hasOwn(value, name) || hasAll(value, names, steps));
}

export const ARRAY_ASSERTIONS: Checks = assertions<readonly unknown[]>({
  maxItems: (value, { maxItems }) => value.length <= Number(maxItems),
  minItems: (value, { minItems }) => value.length >= Number(minItems),
});

export const UNIQUE_ITEMS: Checks = assertions<readonly unknown[]>({
  uniqueItems: (value, { uniqueItems }, { steps }) => uniqueItems !== true || !hasEqualItems(value, steps),
});

export const NUMBER_ASSERTIONS: Checks = assertions<number>({
  // In draft 4 a boolean says whether the bound itself is excluded.
  minimum: (value, { minimum, exclusiveMinimum }) =>
    exclusiveMinimum === true ? value > Number(minimum) : value >= Number(minimum),
  maximum: (value, { maximum, exclusiveMaximum }) =>
    exclusiveMaximum === true ? value < Number(maximum) : value <= Number(maximum),
  exclusiveMinimum: (value, { exclusiveMinimum }) =>
    typeof exclusiveMinimum === 'boolean' || value > Number(exclusiveMinimum),
  exclusiveMaximum: (value, { exclusiveMaximum }) =>
    typeof exclusiveMaximum === 'boolean' || value < Number(exclusiveMaximum),
  multipleOf: (value, { multipleOf }, { steps }) => {
    // The division may involve numbers of hundreds of digits.
    steps.take(80);
    return isMultipleOf(value, Number(multipleOf));
  },
});

export const TEXT_ASSERTIONS: Checks = [
  ...assertions<string>({
    minLength: (value, { minLength }, { steps }) => {
      steps.takeText(value.length * 4);
      return textLength(value) >= Number(minLength);
    },
    maxLength: (value, { maxLength }, { steps }) => {
      steps.takeText(value.length * 4);
      return textLength(value) <= Number(maxLength);
    },
  }),
  ['pattern', makePattern],
  ['format', makeFormat],
];

function makePattern(schema: JsonSchemaObject, { document }: Parameters<MakeCheck>[1]): Check | undefined {
  const pattern = document.pattern(String(schema.pattern));
  if (pattern === undefined) return undefined;
  return assertion<string>('pattern', schema, (value) => pattern.test(value));
}

function makeFormat(schema: JsonSchemaObject): Check | undefined {
  const isFormat = FORMATS.get(String(schema.format));
  if (isFormat === undefined) return undefined;
  return assertion<string>('format', schema, (value, _schema, { steps }) => {
    steps.take(formatSteps(String(schema.format), value));
    return isFormat(value);
  });
}

/** Whether a number is a multiple of another in decimal notation: 0.3 is one of 0.1, though not in binary. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value)) return false;
  // The remainder of whole numbers is exact.
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0;
  const [one, other] = [decimalOf(value), decimalOf(divisor)];
  const exponent = Math.min(one.exponent, other.exponent);
  return scaled(one, exponent) % scaled(other, exponent) === 0n;
}

/** A number as `digits × 10^exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}
