/** One field of a schema, in words. */
export interface SchemaRow {
  /** For example `guests[].name`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** For example "1 to 30", "at most 100 characters". */
  readonly rules: readonly string[];
  readonly description?: string | undefined;
}

type Schema = Readonly<Record<string, unknown>>;

/** The fields of a schema, one line each. Undefined if it is better read as JSON. */
export function schemaRows(schema: unknown): readonly SchemaRow[] | undefined {
  if (!isSchema(schema)) return undefined;
  const rows = rowsOf(schema, '', schema, 0);
  return rows.length === 0 && !isSchema(schema.properties) ? undefined : rows;
}

function rowsOf(schema: Schema, base: string, root: Schema, depth: number): readonly SchemaRow[] {
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return properties.flatMap(([name, given]) => {
    const sub = resolve(given, root);
    const path = base === '' ? name : `${base}.${name}`;
    const row: SchemaRow = {
      path,
      type: typeOf(sub, root),
      isRequired: required.includes(name),
      rules: rulesOf(sub),
      description: typeof sub.description === 'string' ? sub.description : undefined,
    };
    if (depth >= 4) return [row];
    const items = isSchema(sub.items) ? resolve(sub.items, root) : undefined;
    const below =
      items === undefined ? rowsOf(sub, path, root, depth + 1) : rowsOf(items, `${path}[]`, root, depth + 1);
    return [row, ...below];
  });
}

function typeOf(schema: Schema, root: Schema): string {
  if ('const' in schema) return `always ${JSON.stringify(schema.const)}`;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return alternatives.map((one) => typeOf(resolve(one, root), root)).join(' or ');
  if (schema.type === 'array')
    return isSchema(schema.items) ? `list of ${typeOf(resolve(schema.items, root), root)}` : 'list';
  if (typeof schema.format === 'string') return schema.format;
  if (Array.isArray(schema.type)) return schema.type.map(word).join(' or ');
  return typeof schema.type === 'string' ? word(schema.type) : 'anything';
}

function word(type: unknown): string {
  return (
    { string: 'text', integer: 'whole number', boolean: 'yes or no', null: 'nothing' }[String(type)] ?? String(type)
  );
}

function rulesOf(schema: Schema): readonly string[] {
  return [
    between(schema.minimum, schema.maximum, ''),
    between(schema.minLength, schema.maxLength, ' characters'),
    between(schema.minItems, schema.maxItems, ' entries'),
    schema.pattern === undefined ? undefined : `matches ${String(schema.pattern)}`,
    schema.default === undefined ? undefined : `otherwise ${JSON.stringify(schema.default)}`,
  ].filter((rule) => rule !== undefined);
}

function between(min: unknown, max: unknown, unit: string): string | undefined {
  // The largest safe integer is not a real limit.
  const upper = typeof max === 'number' && max < Number.MAX_SAFE_INTEGER ? max : undefined;
  const lower = typeof min === 'number' && min > Number.MIN_SAFE_INTEGER ? min : undefined;
  if (lower !== undefined && upper !== undefined) return `${lower} to ${upper}${unit}`;
  if (lower !== undefined) return `at least ${lower}${unit}`;
  return upper === undefined ? undefined : `at most ${upper}${unit}`;
}

function resolve(given: unknown, root: Schema): Schema {
  if (!isSchema(given)) return {};
  const { $ref } = given;
  if (typeof $ref !== 'string') return given;
  const target = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, name) => (isSchema(node) ? node[name] : undefined), root);
  return isSchema(target) ? target : {};
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
