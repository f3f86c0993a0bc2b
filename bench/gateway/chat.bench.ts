import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { heldAtLeast, heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { postgresPid, processorMsOf } from '../processor-time.ts';
import { type Report, toMarkdown } from '../report.ts';
import { clock } from './chat-models.ts';
import { type BenchDatabases, openDatabases } from './databases.ts';
import { percentile } from './percentiles.ts';
import { startGateway } from './start-gateway.ts';
import { countingStatements } from './statement-times.ts';

const CLIENTS = 50;
const STEPS = 10;
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1_000);
const WARM_UP = 100;
const WORDS = 100;

/** For the gateways' processes, e.g. `--cpu-prof`. */
const NODE_FLAGS = process.env.BENCH_NODE_FLAGS?.split(' ') ?? [];

interface Variant {
  readonly store: 'sqlite' | 'postgres';
  /** Effects of the tool. If external, each step is durable before its tool runs; otherwise steps that need not wait share a commit. */
  readonly effects: 'none' | 'external';
}

const VARIANTS: readonly Variant[] = [
  { store: 'sqlite', effects: 'none' },
  { store: 'postgres', effects: 'none' },
  { store: 'sqlite', effects: 'external' },
  { store: 'postgres', effects: 'external' },
];

const STORES = { sqlite: 'SQLite, synchronous = FULL', postgres: 'PostgreSQL' };
/** The most milliseconds from the model's first word until the client has it. */
const FIRST_WORD_MS = { sqlite: 5, postgres: 15 };

/** `POST /chat` with ten tool steps, compared with the same work without a gateway, and how soon the first word of a stream arrives. */
export async function benchGatewayChat(): Promise<Report> {
  const databases = openDatabases();
  try {
    const bare = await onBareRoute();
    const measured: (Variant & Measured)[] = [];
    for (const variant of chosen()) measured.push({ ...variant, ...(await onGateway(variant, databases)) });
    return {
      title: 'Chat requests',
      claim:
        `\`POST /chat\` of ${CLIENTS} clients, each a new conversation with ${STEPS} tool steps and a model that answers at once; ` +
        'real HTTP, the server in a separate process. The bare route runs `generateText` with the same tool in memory, and stores ' +
        'nothing. The tool adds two numbers. Once it says so (`effects: none`), and once it counts as a tool with outside effects: ' +
        'then each of its calls is durable before it runs. Processor time per request. First word: the time from the model’s first word until ' +
        'a client of a stream has it, one at a time.',
      columns: [
        '',
        'effects',
        'requests/s',
        'p50, ms',
        'p95, ms',
        'CPU, ms',
        'database CPU, ms',
        'first word p50, ms',
        'p95, ms',
      ],
      rows: [
        ['bare Hono route with `generateText`', '', ...figuresOf(bare)],
        ...measured.map((one) => [STORES[one.store], one.effects, ...figuresOf(one)]),
      ],
      findings: [
        ...measured.map(({ store, effects, perSecond }) =>
          heldAtLeast(
            `${STORES[store]}, effects ${effects}, beside the bare route`,
            perSecond / bare.perSecond,
            1,
            ' ×',
          ),
        ),
        ...measured.map(({ store, words = [] }) =>
          heldAtMost(`First word on ${STORES[store]}, p50`, percentile(words, 0.5), FIRST_WORD_MS[store], ' ms'),
        ),
      ],
    };
  } finally {
    await databases.close();
  }
}

function chosen(): readonly Variant[] {
  const { BENCH_STORE, BENCH_EFFECTS } = process.env;
  return VARIANTS.filter(
    ({ store, effects }) => (BENCH_STORE ?? store) === store && (BENCH_EFFECTS ?? effects) === effects,
  );
}

function figuresOf({ perSecond, times, cpuMs, databaseMs, words }: Measured): readonly (string | number)[] {
  return [
    perSecond,
    percentile(times, 0.5),
    percentile(times, 0.95),
    cpuMs,
    databaseMs ?? '–',
    words === undefined ? '' : percentile(words, 0.5),
    words === undefined ? '' : percentile(words, 0.95),
  ];
}

interface Measured {
  readonly perSecond: number;
  readonly times: readonly number[];
  /** Processor time of the server's process, per request. */
  readonly cpuMs: number;
  readonly databaseMs?: number | undefined;
  readonly words?: readonly number[];
}

async function onBareRoute(): Promise<Measured> {
  const child = fork(new URL('bare-chat-child.ts', import.meta.url), [String(STEPS)], {
    execArgv: ['--conditions=@lastcall/source'],
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  try {
    return await measure({ url, processorMs: async () => processorMsOf(child.pid ?? 0) });
  } finally {
    child.disconnect();
  }
}

async function onGateway({ store, effects }: Variant, databases: BenchDatabases): Promise<Measured> {
  const database = await databases[store]();
  const filling = await database.open();
  const [agent = ''] = await filling.agents(1, { model: 'chat-steps', tools: [task.toolName] });
  const [timed = ''] = await filling.agents(1, { model: 'timed-words' });
  await filling.close();
  const spec = { settings: database.settings, tool: { terminal: false, visible: false, effects }, steps: STEPS };
  const gateway = await startGateway(spec, { nodeFlags: NODE_FLAGS });
  const { url, processorMs } = gateway;
  const headers = { authorization: `Bearer ${gateway.secretKey}` };
  const databaseMs = store === 'postgres' ? () => processorMsOf(postgresPid()) : undefined;
  try {
    const measured = await countingStatements(database, WARM_UP + REQUESTS, () =>
      measure({ url, fields: { agent }, headers, processorMs, databaseMs }),
    );
    const words: number[] = [];
    for (let count = 0; count < WORDS; count++) words.push(await firstWord(url, timed, headers));
    return { ...measured, words };
  } finally {
    await gateway.stop();
  }
}

/** A server, and the processor time that it used. */
interface Server {
  readonly url: string;
  readonly fields?: object;
  readonly headers?: object;
  readonly processorMs: () => Promise<number>;
  readonly databaseMs?: (() => number) | undefined;
}

/** Requests from as many clients at once, each sending its next one when it has its answer. */
async function measure({ url, fields, headers, processorMs, databaseMs }: Server): Promise<Measured> {
  const pool = new Pool(url, { connections: CLIENTS });
  const body = JSON.stringify({ ...fields, message: task.prompt });
  const times: number[] = [];
  const send = async (): Promise<void> => {
    const sentAt = performance.now();
    const answer = await pool.request({
      path: '/chat',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    const { response } = (await answer.body.json()) as { response?: string };
    if (response !== task.answer) throw new Error(`Answered ${answer.statusCode} with ${String(response)}.`);
    times.push(performance.now() - sentAt);
  };
  const sendAll = async (count: number): Promise<number> => {
    let left = count;
    const startedAt = performance.now();
    const client = async (): Promise<void> => {
      while (left-- > 0) await send();
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    return performance.now() - startedAt;
  };
  await sendAll(WARM_UP);
  times.length = 0;
  const before = { cpuMs: await processorMs(), databaseMs: databaseMs?.() ?? 0 };
  const tookMs = await sendAll(REQUESTS);
  const cpuMs = ((await processorMs()) - before.cpuMs) / REQUESTS;
  const storeMs = databaseMs === undefined ? undefined : (databaseMs() - before.databaseMs) / REQUESTS;
  await pool.close();
  return { perSecond: (REQUESTS / tookMs) * 1_000, times, cpuMs, databaseMs: storeMs };
}

async function firstWord(url: string, agent: string, headers: object): Promise<number> {
  const answer = await fetch(`${url}/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ agent, message: task.prompt }),
  });
  let text = '';
  let tookMs: number | undefined;
  const decoder = new TextDecoder();
  for await (const piece of answer.body as ReadableStream<Uint8Array>) {
    const seenAt = clock();
    text += decoder.decode(piece, { stream: true });
    const [, saidAt] = /"delta":"(\d+\.?\d*) /.exec(text) ?? [];
    if (saidAt !== undefined) tookMs ??= seenAt - Number(saidAt);
  }
  if (tookMs === undefined) throw new Error(`No word came: ${text}`);
  return tookMs;
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayChat()));
