import { jsonSchema } from '@lastcall/core';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../../src/config/limits.ts';
import { createKey } from '../../src/domain/keys/api-key.ts';
import type { Scope } from '../../src/domain/keys/scope.ts';
import { signToken, tokenSecret } from '../../src/domain/keys/tokens.ts';
import { createInProcessBus } from '../../src/ports/bus/in-process-bus.ts';
import type { Services } from '../../src/ports/services.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { DEFAULT_PARTS } from '../../src/ports/store/store-parts.ts';
import { type App, type AppOptions, createApp } from '../../src/transport/http/app.ts';
import { insertRun } from '../runs/rows.ts';
import type { Database } from '../support/stores.ts';
import { type LogEntry, recordLogs } from '../support/world.ts';

/** The HTTP app in memory, on a real database. */
export interface Api {
  readonly app: App;
  readonly services: Services;
  readonly store: Store;
  /** A key with all rights. */
  readonly key: string;
  readonly logs: readonly LogEntry[];
  keyWith(...scopes: Scope[]): Promise<string>;
  tokenOf(entityId: string, expiresInSeconds?: number): Promise<string>;
  /** Sends JSON and returns the response. Uses the key with all rights, unless another secret is given; null sends none. */
  call(
    method: string,
    path: string,
    sent?: { body?: unknown; secret?: string | null; headers?: object },
  ): Promise<Answer>;
  /** `call` that expects success, and returns only the body. */
  done<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  person(displayName?: string): Promise<string>;
  agent(name?: string, config?: object): Promise<string>;
  space(...members: string[]): Promise<string>;
  /** Inserts the row of an active run of the agent. */
  run(agentId: string): Promise<string>;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly body: any;
}

export interface ApiOptions extends Partial<Omit<AppOptions, 'tokenSecret'>> {
  readonly limits?: Partial<GatewayLimits>;
  /** For a second gateway on the same database, if the database allows one. */
  readonly services?: Partial<Services>;
}

export async function openApi(
  database: Database,
  { limits, services: given, ...options }: ApiOptions = {},
): Promise<Api> {
  const logs: LogEntry[] = [];
  const parts = {
    bus: createInProcessBus(),
    logger: recordLogs(logs),
    limits: { ...DEFAULT_GATEWAY_LIMITS, ...limits },
    ...given,
  };
  const store = given?.store ?? (await database.open({ ...parts, scheduler: DEFAULT_PARTS.scheduler }));
  const services: Services = { ...parts, store };
  const secret = await tokenSecret(store);
  const app = createApp(services, { tokenSecret: secret, studio: false, ...options });
  const keyWith = async (...scopes: Scope[]): Promise<string> =>
    (await store.transaction((tx) => createKey(tx, { name: 'test', scopes }))).key;
  const key = await keyWith('admin');
  const document = await (options.endpoints === undefined ? (ownDocument ??= readDocument(app)) : readDocument(app));
  const call: Api['call'] = async (method, path, sent = {}) => {
    const answer = await read(await app.fetch(toRequest(method, path, { secret: key, ...sent })));
    await assertDocumented(document, { method, path, answer });
    return answer;
  };
  const done = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await call(method, path, { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as T;
  };
  const create = async (path: string, body: unknown): Promise<string> =>
    (await done<{ id: string }>('POST', path, body)).id;
  return {
    app,
    services,
    store,
    key,
    logs,
    keyWith,
    tokenOf: async (entityId, expiresInSeconds) => (await signToken(secret, { entityId, expiresInSeconds })).token,
    call,
    done,
    person: (displayName = 'Ada') => create('/api/entities', { kind: 'human', displayName }),
    agent: (name = 'Scribe', config = {}) => create('/api/agents', { name, instructions: 'Help.', ...config }),
    space: (...members) => create('/api/spaces', { name: 'Lobby', members: members.map((entityId) => ({ entityId })) }),
    run: (agentId) => store.transaction((tx) => insertRun(tx, { thread_id: agentId, created_at: Date.now() })),
    async close() {
      app.stop();
      await store.close();
    },
  };
}

/** Without additional endpoints of a test it is the same for every app. Building it and compiling its schemas takes longer than most tests. */
let ownDocument: Promise<Document> | undefined;

async function readDocument(app: App): Promise<Document> {
  return (await (await app.fetch(new Request('http://gateway/openapi.json'))).json()) as Document;
}

export function toRequest(
  method: string,
  path: string,
  { body, secret, headers = {} }: { body?: unknown; secret?: string | null; headers?: object },
): Request {
  return new Request(`http://gateway${path}`, {
    method,
    headers: {
      ...(secret === null || secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

export interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}

interface Operation {
  readonly parameters: readonly { name: string; in: 'path' | 'query'; schema: object }[];
  readonly requestBody?: { required: boolean; content: { 'application/json'?: { schema: object } } };
  readonly responses: Record<string, { content: Record<string, { schema: object }> }>;
}

/** Asserts that the document has the status and the body of a response. */
export async function assertDocumented(
  document: Document,
  { method, path, answer }: { method: string; path: string; answer: Pick<Answer, 'status' | 'body'> },
): Promise<void> {
  const { pathname } = new URL(path, 'http://gateway');
  const known = Object.entries(document.paths).find(([template]) => toPattern(template).test(pathname));
  // A response without a body has nothing to check.
  const operation = method === 'HEAD' ? undefined : known?.[1][method.toLowerCase()];
  if (operation === undefined) return;
  const schema = operation.responses[answer.status]?.content['application/json']?.schema;
  if (schema === undefined) {
    if (operation.responses[answer.status] === undefined)
      throw new Error(
        `${method} ${path} answered ${answer.status}, which is not documented: ${JSON.stringify(answer.body)}`,
      );
    return;
  }
  const checked = await compiled(document, schema)['~standard'].validate(answer.body);
  if (checked.issues !== undefined)
    throw new Error(`${method} ${path} answered what is not documented: ${JSON.stringify(checked.issues)}`);
}

const validators = new WeakMap<object, ReturnType<typeof jsonSchema>>();

/** Compiled once, with the schemas that it refers to, because that takes longer than a request. */
export function compiled(document: Document, schema: object): ReturnType<typeof jsonSchema> {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...schema, $defs: referredTo(document, schema) });
  const validator = jsonSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
  validators.set(schema, validator);
  return validator;
}

/** The named schemas that a schema needs, and those that they need. */
function referredTo({ components: { schemas } }: Document, schema: object): Record<string, object | undefined> {
  const found: Record<string, object | undefined> = {};
  const collect = (one: object | undefined): void => {
    for (const [, name = ''] of JSON.stringify(one).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name in found) continue;
      found[name] = schemas[name];
      collect(found[name]);
    }
  };
  collect(schema);
  return found;
}

function toPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`);
}
