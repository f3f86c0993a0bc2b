import { setTimeout as sleep } from 'node:timers/promises';
import { type Held, heldAtMost } from '../held.ts';
import { median } from '../measure.ts';
import { task } from '../overhead/contender.ts';
import { postgresPid, processorMsOf } from '../processor-time.ts';
import { type Report, toMarkdown } from '../report.ts';
import { openDatabases } from './databases.ts';
import type { GatewaySpec } from './gateway-child.ts';
import { postFromOutside } from './post-from-outside.ts';
import { ranOn } from './ran-on.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 30);
const AGENTS = Number(process.env.BENCH_AGENTS ?? 100);
const MESSAGES_EACH = Number(process.env.BENCH_MESSAGES ?? 4);
const WARM_UP = 4;
const MOST = 1.03;

type StoreKind = 'sqlite' | 'postgres';
const STORES: readonly StoreKind[] = ['sqlite', 'postgres'];

interface Variant {
  readonly name: 'off' | 'on';
  readonly nodeFlags: readonly string[];
  readonly notify?: GatewaySpec['notify'];
  readonly project?: string;
}

const OFF: Variant = { name: 'off', nodeFlags: ['--import', new URL('without-audit.js', import.meta.url).href] };
const ON: Variant = {
  name: 'on',
  nodeFlags: [],
  notify: {
    oncall: {
      webhook: { url: 'https://example.com/notify', signingSecret: '${env.NOTIFY_SECRET}' },
      events: ['call.waiting', 'call.expiring', 'agent.failed', 'limit.reached'],
    },
  },
  project: 'acme',
};

interface Contender {
  readonly gateway: BenchGateway;
  readonly key: string;
  readonly spaces: readonly { readonly id: string; readonly personId: string }[];
  readonly ms: number[];
}

/** What a posted message costs with a project, an audit and notifications, compared with a gateway without them. */
export async function benchGatewayOperators(): Promise<Report> {
  const databases = openDatabases();
  try {
    const stores = STORES.filter((store) => (process.env.BENCH_STORE ?? store) === store);
    const rows: (readonly (string | number)[])[] = [];
    const findings: Held[] = [];
    for (const store of stores) {
      const { off, on, ratio } = await compare(store, databases[store]);
      rows.push([store, off, on, ratio]);
      findings.push(heldAtMost(`${store}, with a project, the audit and notifications`, ratio, MOST, ' ×'));
    }
    return {
      title: 'What projects, the audit and notifications cost',
      claim:
        'Processor time per posted message, of the gateway and of PostgreSQL: posted over HTTP in a space, handled by an agent whose model answers at ' +
        'once. On one gateway the audit writes nothing, there is no notification target, and the key sees all projects. On the other the audit writes, ' +
        `a target wants all notifications, and the key is one of a project. In turns, ${AGENTS * MESSAGES_EACH} messages a round; the ratio is the ` +
        `median of the ratios of ${ROUNDS} rounds.`,
      columns: ['store', 'without, CPU ms', 'with, CPU ms', 'ratio'],
      rows,
      findings,
    };
  } finally {
    await databases.close();
  }
}

async function compare(store: StoreKind, open: ReturnType<typeof openDatabases>[StoreKind]) {
  const [off, on] = [await start(OFF, await open()), await start(ON, await open())];
  try {
    for (let round = 0; round < WARM_UP + ROUNDS; round++)
      for (const one of round % 2 === 0 ? [off, on] : [on, off]) {
        const ms = await costOfMessages(store, one, round);
        if (round >= WARM_UP) one.ms.push(ms);
      }
  } finally {
    await Promise.all([off, on].map(({ gateway }) => gateway.stop()));
  }
  const ratio = median(on.ms.map((ms, round) => ms / (off.ms[round] ?? Number.NaN)));
  return { off: median(off.ms), on: median(on.ms), ratio };
}

async function start(
  { nodeFlags, notify, project }: Variant,
  { settings }: Awaited<ReturnType<ReturnType<typeof openDatabases>[StoreKind]>>,
): Promise<Contender> {
  const gateway = await startGateway({ settings, tool: { terminal: true, visible: false }, notify }, { nodeFlags });
  let key = gateway.secretKey;
  if (project !== undefined) {
    await call(gateway, key, '/api/projects', { id: project });
    ({ key } = await call(gateway, key, '/api/keys', { name: 'backend', scopes: ['admin'], project }));
  }
  const spaces: { id: string; personId: string }[] = [];
  for (let index = 0; index < AGENTS; index++) {
    const config = { name: `agent ${index}`, instructions: 'Note what you hear.', model: 'instant' };
    const { id: agentId } = await call(gateway, key, '/api/agents', { ...config, tools: [task.toolName] });
    const person = { kind: 'human', displayName: `Ada ${index}` };
    const { id: personId } = await call(gateway, key, '/api/entities', person);
    const members = [agentId, personId].map((entityId) => ({ entityId }));
    spaces.push({ id: (await call(gateway, key, '/api/spaces', { name: 'Room', members })).id, personId });
  }
  await assertAudit(gateway, { isWritten: project !== undefined });
  return { gateway, key, spaces, ms: [] };
}

/** Makes sure that the audit is on or off as the report says. */
async function assertAudit({ url, secretKey }: BenchGateway, { isWritten }: { isWritten: boolean }): Promise<void> {
  const answer = await fetch(`${url}/api/audit?limit=1`, { headers: { authorization: `Bearer ${secretKey}` } });
  const { items } = (await answer.json()) as { items: readonly unknown[] };
  if (items.length > 0 !== isWritten) throw new Error(`The audit has ${items.length} entries.`);
}

/** Counts the whole database server, because only the gateway that is measured uses it. */
async function costOfMessages(store: StoreKind, { gateway, key, spaces }: Contender, round: number): Promise<number> {
  const used = async () => (await gateway.processorMs()) + (store === 'postgres' ? processorMsOf(postgresPid()) : 0);
  const before = await used();
  const headers = { authorization: `Bearer ${key}` };
  const posts = Array.from({ length: MESSAGES_EACH }, (_, each) =>
    spaces.map(({ id, personId }) => ({
      url: `${gateway.url}/api/spaces/${id}/messages`,
      headers,
      body: { text: `Message ${round}.${each}`, entityId: personId },
    })),
  ).flat();
  await postFromOutside({ posts, connections: 16 });
  for (let ran = 0; ran < posts.length; ran += await ranOn([gateway])) await sleep(20);
  await sleep(100);
  return ((await used()) - before) / posts.length;
}

// biome-ignore lint/suspicious/noExplicitAny: only the fields that are read here are there.
async function call({ url }: BenchGateway, key: string, path: string, body: object): Promise<any> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayOperators()));
