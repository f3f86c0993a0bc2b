import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { assertDocumented, type Document } from '../http/api.ts';
import { problemsOfCards } from '../processes/check-effects.ts';
import { problemsOfCalls, problemsOfMessages, problemsOfRuns } from '../processes/check-store.ts';
import { problemsOfStreams } from '../processes/check-streams.ts';
import type { Database } from '../support/stores.ts';
import type { FuzzedMessage, FuzzedSpec } from './fuzz-gateway.ts';
import { mcpFrame } from './mcp-frames.ts';
import { type Ids, operationsOf, requestFor, type Sent } from './odd-requests.ts';
import { sendOnce } from './send-once.ts';
import { settle } from './settle.ts';

/*
 * Sends generated requests to a real gateway over HTTP, from several callers at once: operations of the OpenAPI document, including the
 * chat endpoints, and MCP frames.
 *
 * 1. Every answer is one that the document allows: its status, and the shape of its body. None is 5xx.
 * 2. The gateway logs no error, and no rejection is left uncaught.
 * 3. When nothing runs any more, the invariants hold: see `problemsOf`.
 * 4. Its memory is measured after the first tenth and at the end.
 *
 * A batch of requests depends on the seed, its number and the ids that exist, so a failure is printed with its whole request.
 */
export interface FuzzOptions {
  readonly seed: number;
  readonly requests: number;
  readonly database: Pick<Database, 'location' | 'kind' | 'open'>;
  readonly log?: (line: string) => void;
}

export interface FuzzReport {
  readonly problems: readonly string[];
  /** How many answers had this status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Bytes after the first tenth of the requests and at the end, both collected. */
  readonly memory: { readonly early: number; readonly late: number };
}

const SECRET_KEY = 'a-secret-key-for-the-fuzzer';
const BATCH = 200;
const CONNECTIONS = 8;
/** A client that waits for a run goes away. */
const PATIENCE_MS = 1_000;
const OWN_PATIENCE_MS = 60_000;
/** After this many problems the gateway is not checked further. */
const MOST_PROBLEMS = 20;

export async function fuzz({ seed, requests, database, log }: FuzzOptions): Promise<FuzzReport> {
  const problems: string[] = [];
  const statuses = new Map<number, number>();
  const gateway = await Fuzzed.start(database, (text) => problems.push(text));
  try {
    const document = (await gateway.api('GET', '/openapi.json')) as Document;
    const callers = await callersOf(gateway);
    let early = 0;
    for (let sent = 0, batch = 0; sent < requests && problems.length < MOST_PROBLEMS; sent += BATCH, batch++) {
      const made = makeBatch({ document, callers, ids: await idsOf(gateway), seed: seed + batch });
      await sendAll(made.slice(0, requests - sent), async (one) => {
        const problem = await tryRequest(gateway, document, one, statuses);
        if (problem !== undefined) problems.push(problem);
      });
      if (early === 0 && sent >= requests / 10) early = await gateway.memory();
      if (batch % 50 === 49) log?.(`${sent + BATCH} requests, ${problems.length} problems`);
    }
    const late = await gateway.memory();
    await settle((method, path, body) => gateway.api(method, path, body));
    await gateway.stop();
    problems.push(...(await problemsOf(database)));
    return { problems, statuses, memory: { early, late } };
  } finally {
    gateway.kill();
  }
}

interface Batch {
  readonly document: Document;
  readonly callers: readonly (string | undefined)[];
  readonly ids: Ids;
  readonly seed: number;
}

interface Request extends Sent {
  readonly secret: string | undefined;
}

function makeBatch({ document, callers, ids, seed }: Batch): readonly Request[] {
  const operation = fc.constantFrom(...operationsOf(document)).chain((one) => requestFor(one, ids));
  const sent = fc.oneof(
    { weight: 9, arbitrary: operation },
    { weight: 1, arbitrary: mcpFrame(Object.values(ids).flat()) },
  );
  const secret = fc.oneof(
    { weight: 6, arbitrary: fc.constant(SECRET_KEY) },
    { weight: 3, arbitrary: fc.constantFrom(...callers) },
  );
  const both = fc.tuple(sent, secret).map(([one, who]) => ({ ...one, secret: who }));
  return fc.sample(both, { seed, numRuns: BATCH });
}

async function sendAll(requests: readonly Request[], send: (one: Request) => Promise<void>): Promise<void> {
  const waiting = requests.values();
  const sendRest = async (): Promise<void> => {
    for (const one of waiting) await send(one);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendRest));
}

async function tryRequest(
  gateway: Fuzzed,
  document: Document,
  one: Request,
  statuses: Map<number, number>,
): Promise<string | undefined> {
  const { method, path, headers, secret } = one;
  try {
    const authorized = { ...headers, ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }) };
    const answer = await sendOnce(gateway.url, { ...one, headers: authorized }, PATIENCE_MS);
    if (answer === undefined) return undefined;
    const { status, type, text } = answer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status >= 500) return tellOf(one, `answered ${status}: ${text.slice(0, 500)}`);
    const body = type.startsWith('application/json') && text !== '' ? JSON.parse(text) : text;
    // The MCP server answers in JSON-RPC, which the document does not describe.
    if (!path.startsWith('/mcp') && !type.startsWith('text/event-stream'))
      await assertDocumented(document, { method, path, answer: { status, body } });
    return undefined;
  } catch (error) {
    return tellOf(one, `failed: ${(error as Error).message}`);
  }
}

function tellOf({ method, path, headers, body, secret }: Request, what: string): string {
  const who = secret === SECRET_KEY ? 'operator' : (secret?.slice(0, 12) ?? 'nobody');
  return `${method} ${path} ${JSON.stringify(headers)} ${String(body).slice(0, 2_000)} by ${who} ${what}`;
}

/** Keys and tokens with fewer rights, one that is wrong, and none. */
async function callersOf(gateway: Fuzzed): Promise<readonly (string | undefined)[]> {
  const { id } = await gateway.api('POST', '/api/entities', { kind: 'human', displayName: 'Ada' });
  const { token } = await gateway.api('POST', `/api/entities/${id}/token`, {});
  await gateway.api('POST', '/api/projects', { id: 'acme' });
  const keyOf = async (given: object): Promise<string> =>
    (await gateway.api('POST', '/api/keys', { name: 'fuzzer', ...given })).key;
  return [
    undefined,
    'a-wrong-key',
    token,
    await keyOf({ scopes: ['read'] }),
    await keyOf({ scopes: ['write'] }),
    await keyOf({ scopes: ['admin'], project: 'acme' }),
  ];
}

/** What exists, by the part of a path that an id follows. There is always an agent in a space with a person. */
async function idsOf(gateway: Fuzzed): Promise<Ids> {
  const list = async (path: string): Promise<string[]> => {
    const { items = [] } = await gateway.api('GET', path);
    return (items as { id?: string; callId?: string; name?: string }[]).flatMap(
      ({ id, callId, name }) => id ?? callId ?? name ?? [],
    );
  };
  const agent = await gateway.api('POST', '/api/agents', {
    name: `Scribe ${Date.now()}`,
    instructions: 'Help.',
    tools: ['look', 'pay', 'note'],
  });
  const person = await gateway.api('POST', '/api/entities', { kind: 'human', displayName: 'Ben' });
  await gateway.api('POST', '/api/spaces', {
    name: 'Lobby',
    members: [agent, person].map(({ id }) => ({ entityId: id })),
  });
  const [agents, spaces, entities, runs, pending, tools, artifacts, erasures, projects] = await Promise.all(
    ['agents', 'spaces', 'entities', 'runs', 'pending', 'tools', 'artifacts', 'erasures', 'projects'].map((name) =>
      list(`/api/${name}?limit=20`),
    ),
  );
  const all = { agents, spaces, entities, runs, pending, calls: pending, tools, artifacts, erasures, projects };
  return Object.fromEntries(
    Object.entries({ ...all, keys: ['none'] }).flatMap(([name, ids = []]) => (ids.length === 0 ? [] : [[name, ids]])),
  );
}

/** Checks the invariants when every waiting call was answered and no run is left. */
async function problemsOf(database: FuzzOptions['database']): Promise<readonly string[]> {
  const store = await database.open();
  try {
    const { db } = store;
    const checks = [problemsOfCalls, problemsOfRuns, problemsOfMessages, problemsOfStreams, problemsOfCards];
    const found = (await Promise.all(checks.map((check) => check(db)))).flat();
    // The transcript of a deleted agent ends where it was: its calls are settled without an entry.
    const settled = await db
      .selectFrom('calls')
      .innerJoin('agents', 'agents.id', 'calls.agent_id')
      .select('calls.id')
      .where('agents.status', '=', 'deleted')
      .where('calls.status', '=', 'settled')
      .where('calls.outcome_status', '=', 'cancelled')
      .execute();
    return found.filter((text) => !settled.some(({ id }) => text.startsWith(`Call ${id} `)));
  } finally {
    await store.close();
  }
}

/** The gateway of fuzz-gateway.ts. */
class Fuzzed {
  readonly url: string;
  readonly #child: ChildProcess;

  static async start({ kind, location }: FuzzOptions['database'], onFault: (text: string) => void): Promise<Fuzzed> {
    const settings = kind === 'postgres' ? { databaseUrl: location } : { home: location };
    const spec: FuzzedSpec = { settings, secretKey: SECRET_KEY };
    const child = fork(new URL('fuzz-gateway.ts', import.meta.url), [JSON.stringify(spec)], {
      execArgv: ['--conditions=@lastcall/source'],
    });
    child.on('message', (message: FuzzedMessage) => message.kind === 'fault' && onFault(message.text));
    child.on('exit', (code) => code !== 0 && onFault(`The gateway ended with ${code}.`));
    const [ready] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [FuzzedMessage];
    if (ready.kind !== 'ready') throw new Error(`The gateway did not start: ${JSON.stringify(ready)}`);
    return new Fuzzed(child, ready.url);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  // biome-ignore lint/suspicious/noExplicitAny: only the fields that are read here are there.
  async api(method: string, path: string, body?: object): Promise<any> {
    const headers = { authorization: `Bearer ${SECRET_KEY}`, 'content-type': 'application/json' };
    const sent = { method, path, headers, body: body === undefined ? undefined : JSON.stringify(body) };
    const answer = await sendOnce(this.url, sent, OWN_PATIENCE_MS);
    if (answer === undefined) throw new Error(`${method} ${path} was not answered.`);
    return JSON.parse(answer.text);
  }

  async memory(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    const hear = (message: FuzzedMessage): void => void (message.kind === 'memory' && resolve(message.bytes));
    this.#child.on('message', hear);
    this.#child.send('memory');
    const bytes = await promise;
    this.#child.off('message', hear);
    return bytes;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.send('stop');
    await ended;
  }

  kill(): void {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
  }
}
