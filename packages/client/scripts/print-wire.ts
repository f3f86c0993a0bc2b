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
  return `${HEADER}\n${[...types, all].join('\n\n')}\n`;
}

const HEADER = `// Printed from /openapi.json by \`npm run wire\` in packages/client. A test compares. Do not edit.\n`;

function printOperation({ parameters, requestBody, responses }: Operation): string {
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => `readonly ${name}: string`);
  const inQuery = parameters.filter((one) => one.in === 'query');
  const query = {
    properties: Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema])),
    required: inQuery.filter(({ required }) => required).map(({ name }) => name),
  };
  const body = requestBody?.content?.['application/json']?.schema;
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {};
  const fields = [
    `readonly params: { ${inPath.join('; ')} }`,
    `readonly query: ${print({ type: 'object', ...query, additionalProperties: false }, '    ')}`,
    `readonly body: ${body === undefined ? 'undefined' : print(body, '    ')}${requestBody?.required === false ? ' | undefined' : ''}`,
    `readonly answer: ${print(Object.values(answer)[0]?.schema ?? {}, '    ')}`,
  ];
  return `{\n    ${fields.join(';\n    ')};\n  }`;
}

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
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const [mark, none] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${comment(schema, inner)}${inner}readonly ${key}${mark}: ${print(schema, inner)}${none};`;
  });
  // A field of any name must take the types of the named ones too.
  if (additionalProperties !== false && additionalProperties !== undefined) {
    const value = fields.length === 0 && additionalProperties !== true ? print(additionalProperties, inner) : 'unknown';
    fields.push(`${inner}readonly [name: string]: ${value};`);
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
