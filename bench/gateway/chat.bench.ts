import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { clock } from './chat-models.ts';
import { type BenchDatabase, openDatabases } from './databases.ts';
import { heldAtLeast, heldAtMost, percentile } from './percentiles.ts';
import { startGateway } from './start-gateway.ts';

const CLIENTS = 50;
const STEPS = 10;
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1_000);
const WARM_UP = 100;
const WORDS = 100;

/** `POST /chat` with ten tool steps beside the same without a gateway, and how soon the first word of a stream is seen. */
export async function benchGatewayChat(): Promise<Report> {
  const databases = openDatabases();
  try {
    const bare = await onBareRoute();
    const sqlite = await onGateway(await databases.sqlite());
    const postgres = await onGateway(await databases.postgres());
    const row = (name: string, { perSecond, times, words = [] }: Measured): (string | number)[] => [
      name,
      perSecond,
      percentile(times, 0.5),
      percentile(times, 0.95),
      words.length === 0 ? '' : percentile(words, 0.5),
      words.length === 0 ? '' : percentile(words, 0.95),
    ];
    return {
      title: 'Chat requests',
      claim:
        `\`POST /chat\` of ${CLIENTS} clients, each a new conversation with ${STEPS} tool steps and a model that answers at once; ` +
        'real HTTP, the server in a process of its own. The bare route runs `generateText` with the same tools in memory, and ' +
        'keeps nothing. First word: from the model saying it until a client of a stream has it, one at a time.',
      columns: ['', 'requests/s', 'p50, ms', 'p95, ms', 'first word p50, ms', 'p95, ms'],
      rows: [
        row('bare Hono route with `generateText`', bare),
        row('SQLite, synchronous = FULL', sqlite),
        row('PostgreSQL', postgres),
      ],
      findings: [
        heldAtLeast('SQLite beside the bare route', sqlite.perSecond / bare.perSecond, 1, ' ×'),
        heldAtLeast('PostgreSQL beside the bare route', postgres.perSecond / bare.perSecond, 1, ' ×'),
        heldAtMost('First word on SQLite, p50', percentile(sqlite.words ?? [], 0.5), 5, ' ms'),
        heldAtMost('First word on PostgreSQL, p50', percentile(postgres.words ?? [], 0.5), 15, ' ms'),
      ],
    };
  } finally {
    await databases.close();
  }
}

interface Measured {
  readonly perSecond: number;
  readonly times: readonly number[];
  readonly words?: readonly number[];
}

async function onBareRoute(): Promise<Measured> {
  const child = fork(new URL('bare-chat-child.ts', import.meta.url), [String(STEPS)], {
    execArgv: ['--conditions=@lastcall/source'],
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  try {
    return await load(url, {});
  } finally {
    child.disconnect();
  }
}

async function onGateway(database: BenchDatabase): Promise<Measured> {
  const filling = await database.open();
  const [steps = ''] = await filling.agents(1, { model: 'chat-steps', tools: [task.toolName] });
  const [timed = ''] = await filling.agents(1, { model: 'timed-words' });
  await filling.close();
  const gateway = await startGateway({
    settings: database.settings,
    tool: { terminal: false, visible: false },
    steps: STEPS,
  });
  const headers = { authorization: `Bearer ${gateway.secretKey}` };
  try {
    const loaded = await load(gateway.url, { agent: steps }, headers);
    const words: number[] = [];
    for (let count = 0; count < WORDS; count++) words.push(await firstWord(gateway.url, timed, headers));
    return { ...loaded, words };
  } finally {
    await gateway.stop();
  }
}

/** Requests from as many clients at once, each sending its next one when it has its answer. */
async function load(url: string, fields: object, headers: object = {}): Promise<Measured> {
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
  const tookMs = await sendAll(REQUESTS);
  await pool.close();
  return { perSecond: (REQUESTS / tookMs) * 1_000, times };
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
