/** What a form draws for a JSON Schema. `draft.ts` holds what the user typed, `schema-form.tsx` draws it. */
export interface Field {
  readonly label: string;
  readonly description?: string | undefined;
  /** True if an empty field is null. */
  readonly isNullable: boolean;
  /** Its initial value. */
  readonly initial?: unknown;
  readonly shape: Shape;
}

export type Shape =
  | { readonly kind: 'text'; readonly input: TextInput }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  /** `options` are JSON, so that two values with the same text stay different. */
  | { readonly kind: 'choice' | 'choices'; readonly options: readonly Option[] }
  | { readonly kind: 'fixed'; readonly value: unknown }
  | { readonly kind: 'object'; readonly properties: readonly Property[] }
  | { readonly kind: 'list'; readonly item: Field }
  /** Parts that no form can draw are edited as JSON, so that every form can be filled in. */
  | { readonly kind: 'json' };

type TextInput = 'line' | 'lines' | 'email' | 'url' | 'date' | 'date-time';

export interface Option {
  readonly text: string;
  readonly json: string;
}

interface Property {
  readonly name: string;
  readonly isRequired: boolean;
  readonly field: Field;
}

type Schema = Readonly<Record<string, unknown>>;

/** The field of a whole schema. It is drawn without a label. */
export function toField(schema: unknown, label = 'Value'): Field {
  return fieldOf(schema, { root: schema, name: label, depth: 0 });
}

interface Place {
  readonly root: unknown;
  readonly name: string;
  readonly depth: number;
}

/** Deeper fields would be confusing, so they are edited as JSON. This also ends a recursive schema. */
const MAX_DEPTH = 4;

function fieldOf(given: unknown, place: Place): Field {
  const { schema, isNullable } = withoutNull(resolve(given, place.root), place.root);
  const { title, description } = schema;
  return {
    label: typeof title === 'string' && title !== '' ? title : readable(place.name),
    description: typeof description === 'string' && description !== '' ? description : undefined,
    isNullable,
    initial: schema.default,
    shape: shapeOf(schema, place),
  };
}

function shapeOf(schema: Schema, place: Place): Shape {
  if ('const' in schema) return { kind: 'fixed', value: schema.const };
  const options = optionsOf(schema, place.root);
  if (options !== undefined) return { kind: 'choice', options };
  if (CANNOT_DRAW.some((keyword) => keyword in schema)) return { kind: 'json' };
  switch (schema.type ?? (isSchema(schema.properties) ? 'object' : undefined)) {
    case 'string':
      return { kind: 'text', input: textInput(schema) };
    case 'number':
    case 'integer':
      return { kind: 'number', isInteger: schema.type === 'integer' };
    case 'boolean':
      return { kind: 'choice', options: YES_NO };
    case 'object':
      return objectShape(schema, place);
    case 'array':
      return listShape(schema, place);
    default:
      return { kind: 'json' };
  }
}

const CANNOT_DRAW = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'patternProperties', 'prefixItems'] as const;

const YES_NO: readonly Option[] = [
  { text: 'Yes', json: 'true' },
  { text: 'No', json: 'false' },
];

function objectShape(schema: Schema, place: Place): Shape {
  const properties = Object.entries(isSchema(schema.properties) ? schema.properties : {});
  const isOpen = schema.additionalProperties === true || isSchema(schema.additionalProperties);
  if (place.depth >= MAX_DEPTH || (properties.length === 0 && isOpen)) return { kind: 'json' };
  const required = Array.isArray(schema.required) ? schema.required : [];
  return {
    kind: 'object',
    properties: properties.map(([name, sub]) => {
      const field = fieldOf(sub, { root: place.root, name, depth: place.depth + 1 });
      const isRequired = required.includes(name);
      return { name, isRequired, field: isRequired ? field : { ...field, shape: unfixed(field.shape) } };
    }),
  };
}

/** An optional constant is a choice: this value, or nothing. */
function unfixed(shape: Shape): Shape {
  return shape.kind === 'fixed' ? { kind: 'choice', options: [toOption(shape.value)] } : shape;
}

function listShape({ items, uniqueItems }: Schema, place: Place): Shape {
  if (!isSchema(items) || place.depth >= MAX_DEPTH) return { kind: 'json' };
  const item = fieldOf(items, { root: place.root, name: place.name, depth: place.depth + 1 });
  if (item.shape.kind === 'choice' && uniqueItems === true) return { kind: 'choices', options: item.shape.options };
  return { kind: 'list', item };
}

function textInput({ format, maxLength, pattern }: Schema): TextInput {
  // JSON Schema's time of day has an offset, which the browser's field does not support, so it is a line of text.
  if (format === 'email' || format === 'date' || format === 'date-time') return format;
  if (format === 'uri' || format === 'url') return 'url';
  // A short text, or one with a format or pattern, has no line breaks.
  return format !== undefined || pattern !== undefined || (typeof maxLength === 'number' && maxLength <= 100)
    ? 'line'
    : 'lines';
}

/** The values of an enum, or of alternatives that are each a constant. */
function optionsOf(schema: Schema, root: unknown): readonly Option[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => toOption(value));
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return undefined;
  const resolved = alternatives.map((one) => resolve(one, root));
  if (!resolved.every((one) => 'const' in one)) return undefined;
  return resolved.map((one) => toOption(one.const, one.title));
}

function toOption(value: unknown, title?: unknown): Option {
  const json = JSON.stringify(value);
  return { text: typeof title === 'string' ? title : typeof value === 'string' ? value : json, json };
}

/** `["string", "null"]` and `anyOf: [.., { type: "null" }]` mean the same: the value may be null. */
function withoutNull(schema: Schema, root: unknown): { schema: Schema; isNullable: boolean } {
  const { type, anyOf, oneOf, ...rest } = schema;
  if (Array.isArray(type) && type.includes('null')) {
    const others = type.filter((one) => one !== 'null');
    const values = Array.isArray(schema.enum) ? { enum: schema.enum.filter((one) => one !== null) } : {};
    return { schema: { ...schema, ...values, type: others.length === 1 ? others[0] : others }, isNullable: true };
  }
  const alternatives = anyOf ?? oneOf;
  if (!Array.isArray(alternatives)) return { schema, isNullable: false };
  const others = alternatives.filter((one) => resolve(one, root).type !== 'null');
  if (others.length === alternatives.length) return { schema, isNullable: false };
  const [only] = others;
  const left = others.length === 1 ? { ...resolve(only, root), ...rest } : { ...rest, anyOf: others };
  return { schema: left, isNullable: true };
}

/** Follows references inside the document. A reference that cannot be resolved is edited as JSON. */
function resolve(given: unknown, root: unknown): Schema {
  let schema = given;
  for (let hops = 0; hops < 10; hops++) {
    if (!isSchema(schema)) return {};
    const { $ref, ...beside } = schema;
    if (typeof $ref !== 'string') return schema;
    const target = $ref.startsWith('#') ? atPointer(root, $ref.slice(1)) : undefined;
    schema = isSchema(target) ? { ...target, ...beside } : {};
  }
  return {};
}

function atPointer(root: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((node, name) => (isSchema(node) && Object.hasOwn(node, name) ? node[name] : undefined), root);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `check_in`, `checkIn` and `check-in` are read as "Check in". */
export function readable(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim();
  const isShouted = words === words.toUpperCase();
  const calm = isShouted ? words : words.replace(/(?<=\s)[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase());
  return calm === '' ? name : calm.charAt(0).toUpperCase() + calm.slice(1);
}
