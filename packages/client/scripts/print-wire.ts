// Prints the types of an OpenAPI document. openapi-typescript needs the compiler API of TypeScript 5, and this is all we need of it.

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The types of all components, and of what each operation takes and answers. */
export function printWire({ paths, components }: OpenApi): string {
  const types = sorted(components.schemas).map(
    ([name, schema]) => `${comment(schema, '')}export type ${name} = ${print(schema, '')};`,
  );
  const operations = sorted(paths).flatMap(([path, methods]) =>
    sorted(methods).map(([method, one]) => `  '${method.toUpperCase()} ${path}': ${printOperation(one)};`),
  );
  const all = `/** What each operation takes and answers. */\nexport interface Operations {\n${operations.join('\n')}\n}`;
  return `${HEADER}\n${[...types, SHARED, all].join('\n\n')}\n`;
}

const HEADER = `// Printed from /openapi.json by \`npm run wire\` in packages/client. A test compares. Do not edit.\n`;

/** What OpenAPI cannot say once: it has no generics. */
const SHARED = `/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page. Absent on the last page. */
  readonly next?: string | undefined;
  /** Rows of this page that are left out because they are damaged in the database, and what to do. Absent if there are none. */
  readonly damaged?: readonly { readonly id: string; readonly problem: string }[] | undefined;
}

/** Which page of a list. */
export interface PageQuery {
  /** The \`next\` of the previous page. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** An operation. What is not said of it, it does not take. */
interface Operation<O extends { readonly answer: unknown }> {
  readonly params: O extends { readonly params: infer P } ? P : Record<never, never>;
  readonly query: O extends { readonly query: infer Q } ? Q : Record<string, never>;
  readonly body: O extends { readonly body: infer B } ? B : undefined;
  readonly answer: O['answer'];
}`;

function printOperation({ parameters, requestBody, responses }: Operation): string {
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => `${name}: string`);
  const inQuery = parameters.filter((one) => one.in === 'query');
  const body = requestBody?.content?.['application/json']?.schema;
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {};
  const fields = [
    ...(inPath.length === 0 ? [] : [`params: { ${inPath.join('; ')} }`]),
    ...(inQuery.length === 0 ? [] : [`query: ${printQuery(inQuery)}`]),
    ...(body === undefined
      ? []
      : [`body: ${print(body, '    ')}${requestBody?.required === false ? ' | undefined' : ''}`]),
    ...(requestBody?.content?.['application/octet-stream'] === undefined ? [] : ['body: Blob']),
    `answer: ${print(Object.values(answer)[0]?.schema ?? {}, '    ')}`,
  ];
  const line = `Operation<{ ${fields.join('; ')} }>`;
  return line.includes('\n') ? `Operation<{\n    ${fields.join(';\n    ')};\n  }>` : line;
}

function printQuery(parameters: Operation['parameters']): string {
  const isPaged = PAGE_FIELDS.every((field) => parameters.some(({ name }) => name === field));
  const own = isPaged ? parameters.filter(({ name }) => !PAGE_FIELDS.includes(name)) : parameters;
  const fields = {
    type: 'object',
    properties: Object.fromEntries(own.map(({ name, schema }) => [name, schema])),
    required: own.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
  if (!isPaged) return print(fields, '    ');
  return own.length === 0 ? 'PageQuery' : `PageQuery & ${print(fields, '    ')}`;
}

const PAGE_FIELDS: readonly string[] = ['cursor', 'limit'];

function print(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return union.map((one) => print(one, indent)).join(' | ');
  // Beside a type it says more of the value (patterns), and nothing of the type.
  if (schema.type === undefined && schema.allOf !== undefined)
    return schema.allOf.map((one) => print(one, indent)).join(' & ');
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type)) return schema.type.map((type) => print({ ...schema, type }, indent)).join(' | ');
  switch (schema.type) {
    case 'object':
      return printObject(schema, indent);
    case 'array':
      return `readonly (${print(schema.items ?? {}, indent)})[]`;
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'unknown';
  }
}

function printObject({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  if (Object.keys(properties).join() === 'items,next,damaged')
    return `Page<${print(properties.items?.items ?? {}, indent)}>`;
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const [mark, none] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${comment(schema, inner)}${inner}readonly ${key}${mark}: ${print(schema, inner)}${none};`;
  });
  if (additionalProperties !== false && additionalProperties !== undefined) {
    if (fields.length === 0) {
      const value = additionalProperties === true ? 'unknown' : print(additionalProperties, indent);
      return `Readonly<Record<string, ${value}>>`;
    }
    // A field of any name must take the types of the named ones too.
    fields.push(`${inner}readonly [name: string]: unknown;`);
  }
  return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('\n')}\n${indent}}`;
}

function comment({ description }: Schema, indent: string): string {
  return description === undefined
    ? ''
    : `${indent}/** ${description.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */\n`;
}

function sorted<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1));
}
