import fc from 'fast-check';
import type { JsonSchemaObject } from '../../src/schema/json-schema-object.ts';

/** A small language of schemas whose valid values and closed levels are known without reading JSON Schema. */
export type Shape =
  | { readonly kind: 'string' | 'integer' | 'boolean' | 'null' | 'anything' }
  | { readonly kind: 'list'; readonly item: Shape }
  | { readonly kind: 'object'; readonly fields: Fields; readonly isOpen: boolean }
  | { readonly kind: 'record'; readonly value: Shape }
  | { readonly kind: 'nullable'; readonly value: Shape; readonly isRef: boolean }
  | {
      readonly kind: 'tagged';
      readonly keyword: 'anyOf' | 'oneOf';
      readonly left: Fields;
      readonly right: Fields;
      readonly common: Fields;
    }
  | { readonly kind: 'both'; readonly left: Fields; readonly right: Fields; readonly isPlain: boolean }
  | { readonly kind: 'chain'; readonly value: Shape };

type Fields = Readonly<Record<string, { readonly shape: Shape; readonly isOptional: boolean }>>;

// Includes names of keywords and of inherited properties. Extra keys have other names.
const LEFT = ['a', 'properties', 'valueOf', 'odd key'];
const RIGHT = ['b', 'additionalProperties', '$ref', 'hasOwnProperty'];
const COMMON = ['c', 'allOf'];
export const EXTRA_KEYS = ['zz', '__proto__', 'constructor', 'toString', 'x/y~z'];

const { shape } = fc.letrec<{ shape: Shape }>((tie) => {
  const fields = (names: readonly string[]): fc.Arbitrary<Fields> =>
    fc.dictionary(fc.constantFrom(...names), fc.record({ shape: tie('shape'), isOptional: fc.boolean() }), {
      maxKeys: 3,
    });
  return {
    shape: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record({ kind: fc.constantFrom('string', 'integer', 'boolean', 'null', 'anything') }) as fc.Arbitrary<Shape>,
      fc.record({ kind: fc.constant('list' as const), item: tie('shape') }),
      fc.record({ kind: fc.constant('object' as const), fields: fields(LEFT), isOpen: fc.boolean() }),
      fc.record({ kind: fc.constant('record' as const), value: tie('shape') }),
      fc.record({ kind: fc.constant('nullable' as const), value: tie('shape'), isRef: fc.boolean() }),
      fc.record({
        kind: fc.constant('tagged' as const),
        keyword: fc.constantFrom('anyOf' as const, 'oneOf' as const),
        left: fields(LEFT),
        right: fields(RIGHT),
        common: fields(COMMON),
      }),
      fc.record({
        kind: fc.constant('both' as const),
        left: fields(LEFT),
        right: fields(RIGHT),
        isPlain: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('chain' as const), value: tie('shape') }),
    ),
  };
});

/** The input of a tool: an object at the root. */
export const inputShape: fc.Arbitrary<Shape> = fc.oneof(
  shape.map((value): Shape => ({ kind: 'object', fields: { a: { shape: value, isOptional: false } }, isOpen: false })),
  shape.filter(({ kind }) => ['object', 'tagged', 'both', 'chain'].includes(kind)),
);

export function toJsonSchema(root: Shape): JsonSchemaObject {
  const $defs: Record<string, unknown> = {};
  const schema = write(root);
  return Object.keys($defs).length > 0 ? { ...schema, $defs } : schema;

  function write(node: Shape): JsonSchemaObject {
    switch (node.kind) {
      case 'anything':
        return {};
      case 'list':
        return { type: 'array', items: write(node.item) };
      case 'object':
        return { ...writeFields(node.fields), ...(node.isOpen ? { additionalProperties: true } : {}) };
      case 'record':
        return { type: 'object', additionalProperties: write(node.value) };
      case 'nullable':
        return { anyOf: [node.isRef ? define(write(node.value)) : write(node.value), { type: 'null' }] };
      case 'tagged':
        return writeTagged(node);
      case 'both':
        return {
          allOf: [
            { ...writeFields(node.left), ...(node.isPlain ? {} : { minProperties: 0 }) },
            define(writeFields(node.right)),
          ],
        };
      case 'chain': {
        const name = `d${Object.keys($defs).length}`;
        $defs[name] = {};
        $defs[name] = writeFields(
          { value: { shape: node.value, isOptional: false } },
          { next: { $ref: `#/$defs/${name}` } },
        );
        return { $ref: `#/$defs/${name}` };
      }
      default:
        return { type: node.kind };
    }
  }

  function define(definition: JsonSchemaObject): JsonSchemaObject {
    const name = `d${Object.keys($defs).length}`;
    $defs[name] = definition;
    return { $ref: `#/$defs/${name}` };
  }

  function writeTagged(node: Extract<Shape, { kind: 'tagged' }>): JsonSchemaObject {
    const branch = (tag: string, fields: Fields) => ({
      ...writeFields(fields, { tag: { const: tag } }),
      required: ['tag', ...needed(fields)],
    });
    const common = Object.keys(node.common).length > 0 ? writeFields(node.common) : {};
    return { ...common, type: 'object', [node.keyword]: [branch('left', node.left), branch('right', node.right)] };
  }

  function writeFields(fields: Fields, more: JsonSchemaObject = {}): JsonSchemaObject {
    const properties = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, write(field.shape)]));
    return { type: 'object', properties: { ...properties, ...more }, required: needed(fields) };
  }
}

function needed(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.isOptional === false);
}

/** A value that fits, without a key that its shape does not name. */
export function fittingValue(node: Shape): fc.Arbitrary<unknown> {
  switch (node.kind) {
    case 'string':
      return fc.string({ maxLength: 3 });
    case 'integer':
      return fc.integer();
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'anything':
      return fc.jsonValue({ maxDepth: 1 });
    case 'list':
      return fc.array(fittingValue(node.item), { maxLength: 2 });
    case 'object':
      return fittingFields(node.fields);
    case 'record':
      return fc.dictionary(fc.constantFrom('k', '__proto__', 'x y'), fittingValue(node.value), { maxKeys: 2 });
    case 'nullable':
      return fc.oneof(fc.constant(null), fittingValue(node.value));
    case 'tagged':
      return fc.oneof(
        fittingFields({ ...node.left, ...node.common }).map((value) => ({ ...value, tag: 'left' })),
        fittingFields({ ...node.right, ...node.common }).map((value) => ({ ...value, tag: 'right' })),
      );
    case 'both':
      return fittingFields({ ...node.left, ...node.right });
    case 'chain':
      return fc
        .array(fittingValue(node.value), { minLength: 1, maxLength: 3 })
        .map((values) =>
          values.reduceRight<unknown>((next, value) => (next === undefined ? { value } : { value, next }), undefined),
        );
  }
}

function fittingFields(fields: Fields): fc.Arbitrary<Record<string, unknown>> {
  const arbitraries = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, fittingValue(field.shape)]),
  );
  return fc.record(arbitraries, { requiredKeys: needed(fields) });
}

export type Path = readonly (string | number)[];

/** The paths of the objects in a value that must refuse keys they do not know. */
export function closedLevels(node: Shape, value: unknown, path: Path = []): readonly Path[] {
  const inside = (fields: Fields): readonly Path[] =>
    Object.entries(fields).flatMap(([name, field]) =>
      Object.hasOwn(value as object, name)
        ? closedLevels(field.shape, (value as Record<string, unknown>)[name], [...path, name])
        : [],
    );
  switch (node.kind) {
    case 'list':
      return (value as unknown[]).flatMap((item, index) => closedLevels(node.item, item, [...path, index]));
    case 'object':
      return [...(node.isOpen ? [] : [path]), ...inside(node.fields)];
    case 'record':
      return Object.entries(value as object).flatMap(([key, one]) => closedLevels(node.value, one, [...path, key]));
    case 'nullable':
      return value === null ? [] : closedLevels(node.value, value, path);
    case 'tagged':
      return [
        path,
        ...inside(node.common),
        ...inside((value as { tag: string }).tag === 'left' ? node.left : node.right),
      ];
    case 'both':
      return [path, ...inside(node.left), ...inside(node.right)];
    case 'chain': {
      const { value: here, next } = value as { value: unknown; next?: unknown };
      const below = next === undefined ? [] : closedLevels(node, next, [...path, 'next']);
      return [path, ...closedLevels(node.value, here, [...path, 'value']), ...below];
    }
    default:
      return [];
  }
}

/** A copy with one more property at a path. */
export function withKey(value: unknown, path: Path, key: string): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return Object.fromEntries([...Object.entries(value as object), [key, 1]]);
  if (Array.isArray(value)) return value.map((item, index) => (index === first ? withKey(item, rest, key) : item));
  return Object.fromEntries(
    Object.entries(value as object).map(([name, one]) => [name, name === first ? withKey(one, rest, key) : one]),
  );
}
