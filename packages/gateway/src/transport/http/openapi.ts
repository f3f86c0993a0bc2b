import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { VERSION } from '../../config/version.ts';
import { isOpenAiPath, openAiErrorSchema } from '../openai/openai-error.ts';
import type { Access, Endpoint } from './endpoint.ts';
import { errorBodySchema } from './error-answer.ts';
import { JSON_LINES } from './json-lines.ts';
import { configComponents } from './schemas/shown-config.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The API as an OpenAPI 3.1 document, generated from the same schemas that requests are checked with. */
export async function openApiDocument(endpoints: readonly Endpoint[]): Promise<Schema> {
  const schemas: Record<string, unknown> = {};
  addComponents(schemas, withComponents(configComponents) as Record<string, Schema>);
  const toSchema = schemaCollector(schemas);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of endpoints) {
    paths[one.path] ??= {};
    (paths[one.path] as Record<string, unknown>)[one.method] = operation(one, toSchema);
    // All of them together take a tenth of a second or more, and other requests must not wait for that.
    await nextTurn();
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lastcall gateway',
      version: VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
      description: 'Run agents, the spaces they share with people, and the calls that wait for an answer.',
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags: tagsOf(endpoints),
    paths,
    components: { schemas, securitySchemes: SECURITY_SCHEMES },
  };
}

function tagsOf(endpoints: readonly Endpoint[]): Schema[] {
  return [...new Set(endpoints.map(tagOf))].map((name) => ({
    name,
    description: TAGS[name] ?? `Operations on ${name}.`,
  }));
}

const TAGS: Readonly<Record<string, string>> = {
  agents: 'Agents, their inbox, and what they remember.',
  audit: 'Who changed what.',
  calls: 'Tool calls, by their ids.',
  artifacts: 'Files that people uploaded or tools made, such as images.',
  entities: 'People, agents and services.',
  export: 'The data of a person.',
  jobs: 'The work of external tools.',
  keys: 'Secret keys.',
  links: 'Links that sign a browser in.',
  mcp: 'MCP servers and their tools.',
  models: 'Models that agents may name.',
  pending: 'Calls that wait for an answer.',
  projects: 'Customers of the gateway. Each has its own agents, spaces, people, tools and keys.',
  runs: 'Runs of agents, and answers to their calls.',
  session: "The session of the caller's browser.",
  sessions: 'Browsers that are signed in.',
  spaces: 'Where people and agents talk.',
  status: 'How the gateway is set up, and what needs attention.',
  system: 'Health, metrics and this document, for operators.',
  tools: 'Tools of every source, and the registry.',
};

type ToSchema = (schema: z.ZodType, io: 'input' | 'output') => Schema;

/** Schemas with an id are named once, under `components`. Each schema is converted once, although many operations have it. */
function schemaCollector(schemas: Record<string, unknown>): ToSchema {
  const known = { input: new Map<z.ZodType, Schema>(), output: new Map<z.ZodType, Schema>() };
  const convert: ToSchema = (schema, io) => {
    const {
      $schema: _dialect,
      $defs,
      id,
      ...own
    } = withComponents(z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }));
    addComponents(schemas, $defs as Record<string, Schema> | undefined);
    if (id === undefined) return own;
    addComponents(schemas, { [String(id)]: own });
    return { $ref: `${COMPONENTS}${id}` };
  };
  return (schema, io) => {
    const made = known[io].get(schema) ?? convert(schema, io);
    known[io].set(schema, made);
    return made;
  };
}

/** The same schema, whose references lead to the components of the document. */
function withComponents(schema: object): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${COMPONENTS}`));
}

/** Throws if two schemas have one name: the document would show one of them in the place of both. */
function addComponents(schemas: Record<string, unknown>, named: Readonly<Record<string, Schema>> = {}): void {
  for (const [name, { id: _, ...schema }] of Object.entries(named)) {
    if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema))
      throw new Error(`Two schemas of the API are called "${name}". Rename one.`);
    schemas[name] = schema;
  }
}

const COMPONENTS = '#/components/schemas/';

function operation(one: Endpoint, toSchema: ToSchema): Schema {
  const { summary, description, access, body, status, answer } = one;
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    operationId: operationId(one),
    tags: [tagOf(one)],
    security: securityOf(access, answer === 'text/event-stream'),
    parameters: [...pathParameters(one), ...queryParameters(one, toSchema)],
    ...(body === undefined ? {} : { requestBody: requestBody(one, body, toSchema) }),
    ...(one.upload === undefined ? {} : { requestBody: FILE_BODY }),
    responses: {
      [status]: { description: status === 201 ? 'Created.' : 'Success.', content: contentOf(one, toSchema) },
      ...(one.mayBeEmpty ? { 204: { description: 'There is nothing to return.', content: {} } } : {}),
      ...Object.fromEntries(refusalsOf(one).map((code) => [code, refusal(one, code, toSchema)])),
    },
  };
}

/** OpenAPI 3.1 cannot describe the items of a stream, so the schema describes the data of each event. */
function contentOf(
  { method, answer, events, isStreamable, hasTextForm, hasLines }: Endpoint,
  toSchema: ToSchema,
): Schema {
  const stream = { schema: events === undefined ? { type: 'string' } : toSchema(events, 'output') };
  if (typeof answer === 'string') return { [answer]: stream };
  const json = { 'application/json': { schema: toSchema(answer, 'output') } };
  if (hasTextForm && method === 'get') return { ...json, 'text/plain': { schema: { type: 'string' } } };
  if (hasLines) return { ...json, [JSON_LINES]: { schema: { type: 'string' } } };
  return isStreamable ? { ...json, 'text/event-stream': stream } : json;
}

function requestBody({ hasTextForm }: Endpoint, body: z.ZodType, toSchema: ToSchema): Schema {
  // The schema itself is tried, because it may be optional at any depth: under a default, a pipe or a transform.
  const required = !hasTextForm && !body.safeParse(undefined).success;
  const json = { 'application/json': { schema: toSchema(body, 'input') } };
  const text = { 'text/plain': { schema: { type: 'string' } } };
  return { required, content: hasTextForm ? { ...json, ...text } : json };
}

const BINARY: Schema = { type: 'string', format: 'binary' };
const TEXT: Schema = { type: 'string' };

const FILE_BODY: Schema = {
  required: true,
  content: {
    'application/octet-stream': { schema: BINARY },
    'multipart/form-data': {
      schema: { type: 'object', properties: { file: BINARY, name: TEXT, entityId: TEXT }, required: ['file'] },
    },
  },
};

/** The resource: the first part of the path. */
function tagOf({ path }: Endpoint): string {
  const [first = '', second] = path.split('/').filter((part) => part !== '');
  return first === 'api' && second !== undefined ? second : 'system';
}

/** `get /api/spaces/{id}/members` → `get_spaces_id_members`. */
export function operationId({ method, path }: Pick<Endpoint, 'method' | 'path'>): string {
  return [method, ...path.split(/\W+/).filter((part) => part !== '' && part !== 'api')].join('_');
}

function pathParameters({ path }: Endpoint): Schema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Endpoint, toSchema: ToSchema): Schema[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = toSchema(query, 'input') as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function refusalsOf({ method, path, access, handle, refusals }: Endpoint): readonly number[] {
  const all = [
    // 404: the project that a header names. 429: the rate limit of a key.
    ...(access === 'anyone' ? [] : [401, 403, 404, 429]),
    ...(path.includes('{') ? [404] : []),
    ...(method === 'get' ? [] : [400, 408, 413, 415, 429]),
    ...(handle === undefined ? [] : [422, 503]),
    ...refusals,
    405,
    500,
  ];
  // Under /v1, status 422 becomes 400.
  const told = isOpenAiPath(path) ? all.map((code) => (code === 422 ? 400 : code)) : all;
  return [...new Set(told)].sort((a, b) => a - b);
}

function refusal({ path, hasTextErrors }: Endpoint, code: number, toSchema: ToSchema): Schema {
  const retryable = code === 429 || code === 503;
  return {
    description: REASONS[code] ?? 'Refused.',
    ...(retryable
      ? {
          headers: {
            'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait before trying again.' },
          },
        }
      : {}),
    // An unsupported method is refused before an operation is found.
    content:
      hasTextErrors && code !== 405
        ? { 'text/plain': { schema: { type: 'string' } } }
        : {
            'application/json': {
              schema: toSchema(isOpenAiPath(path) ? openAiErrorSchema : errorBodySchema, 'output'),
            },
          },
  };
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'The body cannot be parsed.',
  401: 'The key, token or signature is missing or not valid.',
  403: 'The key or token may not do this.',
  404: 'It does not exist, or the caller may not see it.',
  405: 'The path does not support this method.',
  408: 'The body did not arrive in time.',
  409: 'It conflicts with the current state.',
  410: 'The call expired or was cancelled before the answer came.',
  413: 'The body, or a value in it, is too large.',
  415: 'The body is not sent as JSON.',
  422: 'A value is invalid. `details` says which.',
  429: 'A limit is reached. Try again later.',
  500: 'A bug in the gateway. The log has the details under the request id.',
  502: 'The call of the model failed, the configuration of the agent is invalid, or the agent could not work.',
  503: 'The gateway is stopping or cannot reach its database. Try again.',
};

function securityOf(access: Access, isStream: boolean): Schema[] {
  if (access === 'anyone') return [];
  if (access === 'session') return [{ session: [] }];
  if (access !== 'entity') return [{ secretKey: [] }, { session: [] }];
  return [{ secretKey: [] }, { session: [] }, { entityToken: [] }, ...(isStream ? [{ entityTokenInQuery: [] }] : [])];
}

const SECURITY_SCHEMES: Schema = {
  secretKey: { type: 'http', scheme: 'bearer', description: 'A secret key. For servers only, never for browsers.' },
  entityToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A token with which one entity acts for itself.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'lastcall_4100',
    description:
      'The session of a browser, named by the port. It counts only in requests of the page that the gateway serves itself.',
  },
  entityTokenInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'An entity token, for clients that cannot set headers.',
  },
};
