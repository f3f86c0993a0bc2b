import { setTimeout as sleep } from 'node:timers/promises';
import { heldAtMost } from '../held.ts';
import { median } from '../measure.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { STEPS } from './agent-definitions.ts';
import { openDatabases } from './databases.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 12);
const RUNS = Number(process.env.BENCH_RUNS ?? 40);
/** Rounds before the first that is measured: code in many small functions is optimized late. */
const WARM_UP = 3;
const NODE_FLAGS = process.env.BENCH_NODE_FLAGS?.split(' ') ?? [];
const [FEW, MANY] = [10, 1_000];

/** One agent, and what each of its rounds cost. */
interface Contender {
  readonly name: string;
  readonly config: object;
  /** Before it is measured, it gets an event with this name and runs tools this often. */
  readonly first?: { readonly name: string; readonly waiting: number };
}

const CONTENDERS: readonly Contender[] = [
  { name: 'plain', config: { instructions: 'Note what you hear.', tools: [task.toolName] } },
  { name: 'used', config: { definition: 'used' } },
  { name: 'turn', config: { definition: 'turn', instructions: 'Note what you hear.' } },
  { name: 'machine', config: { definition: 'machine' } },
  { name: 'few', config: { definition: 'company' }, first: { name: `hire ${FEW}`, waiting: FEW } },
  { name: 'many', config: { definition: 'company' }, first: { name: `hire ${MANY}`, waiting: MANY } },
];

/** What definitions and machines cost, compared with an agent that is only data. */
export async function benchGatewayAgents(): Promise<Report> {
  const databases = openDatabases();
  try {
    const database = await databases.sqlite();
    const filling = await database.open();
    const wanted = process.env.BENCH_CONTENDERS?.split(',');
    const chosen = CONTENDERS.filter(({ name }) => wanted === undefined || wanted.includes(name));
    const agents: (Contender & { readonly id: string; readonly ms: number[] })[] = [];
    for (const contender of chosen) {
      // The default budget, so that the cost of a long-lived agent includes its compactions.
      const limits = { consciousnessTokens: 32_000 };
      const config = { model: contender.name, limits, ...contender.config };
      const [id = ''] = await filling.agents(1, config);
      agents.push({ ...contender, id, ms: [] });
    }
    await filling.close();
    const spec = { settings: database.settings, tool: { terminal: false, visible: false } };
    const gateway = await startGateway(spec, { nodeFlags: NODE_FLAGS });
    try {
      for (const { id, first } of agents) if (first !== undefined) await prepare(gateway, id, first);
      for (let round = 0; round < WARM_UP + ROUNDS; round++)
        for (const { id, ms } of agents) {
          const cost = await costOfRuns(gateway, id);
          if (round >= WARM_UP) ms.push(cost);
        }
    } finally {
      await gateway.stop();
    }
    return toReport(new Map(agents.map(({ name, ms }) => [name, ms])));
  } finally {
    await databases.close();
  }
}

/** Sends the event that lets the lead hire workers, and waits until all of them wait. */
async function prepare(gateway: BenchGateway, id: string, { name, waiting }: NonNullable<Contender['first']>) {
  await call(gateway, `/api/agents/${id}/events`, { source: 'bench', name });
  for (;;) {
    await sleep(500);
    const [run] = (await call(gateway, `/api/runs?agentId=${id}`)).items;
    if (run?.endedAt !== undefined) break;
  }
  const machine = await call(gateway, `/api/agents/${id}/machine`);
  if (machine.waiting.length !== waiting) throw new Error(`${machine.waiting.length} wait, not ${waiting}.`);
  await gateway.ranAt();
}

/** Processor time per run, in milliseconds. The events are there before the first run starts. */
async function costOfRuns(gateway: BenchGateway, id: string): Promise<number> {
  await call(gateway, `/api/agents/${id}/pause`, {});
  for (let count = 0; count < RUNS; count++)
    await call(gateway, `/api/agents/${id}/events`, { source: 'bench', name: 'go' });
  await sleep(50);
  const before = await gateway.processorMs();
  await call(gateway, `/api/agents/${id}/resume`, {});
  for (let ran = 0; ran < RUNS * STEPS; ran += (await gateway.ranAt()).length) await sleep(50);
  await sleep(50);
  return ((await gateway.processorMs()) - before) / RUNS;
}

// biome-ignore lint/suspicious/noExplicitAny: only the fields that are read here are there.
async function call({ url, secretKey }: BenchGateway, path: string, body?: object): Promise<any> {
  const answer = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}

interface Comparison {
  readonly what: string;
  readonly name: string;
  readonly against: string;
  readonly most?: number;
}

const COMPARISONS: readonly Comparison[] = [
  { what: 'an agent without a definition', name: 'plain', against: 'plain' },
  { what: 'a slice, a file and a section, all used', name: 'used', against: 'plain', most: 1.25 },
  { what: 'a definition with one tool', name: 'turn', against: 'plain' },
  { what: 'a machine with one node and that tool', name: 'machine', against: 'turn', most: 1.3 },
  { what: `a machine with ${FEW} idle instances`, name: 'few', against: 'few' },
  { what: `a machine with ${MANY.toLocaleString('en')} idle instances`, name: 'many', against: 'few', most: 1 },
];

function toReport(measured: ReadonlyMap<string, readonly number[]>): Report {
  const known = COMPARISONS.filter(({ name, against }) => measured.has(name) && measured.has(against));
  const of = (name: string): readonly number[] => measured.get(name) ?? [];
  // They take turns, so that a slow phase of the machine affects both of a pair.
  const ratio = ({ name, against }: Comparison): number =>
    median(of(name).map((ms, round) => ms / (of(against)[round] ?? Number.NaN)));
  const label = (wanted: string): string => known.find(({ name }) => name === wanted)?.what ?? wanted;
  return {
    title: 'What definitions and machines cost',
    claim:
      `Processor time of the gateway per run, on SQLite, so that the store is included: a model that answers at once, ${STEPS} tool steps ` +
      `and an answer per run, compactions included. One gateway, the agents in turns, ${RUNS} runs a round, the median of ${ROUNDS} rounds; ` +
      'each ratio is the median of the ratios of the rounds.',
    columns: ['', 'CPU per run, ms', 'against', 'ratio'],
    rows: known.map((one) => [one.what, median(of(one.name)), label(one.against), ratio(one)]),
    findings: known.flatMap((one) => (one.most === undefined ? [] : [heldAtMost(one.what, ratio(one), one.most)])),
  };
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayAgents()));
