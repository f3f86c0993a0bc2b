import { setTimeout as sleep } from 'node:timers/promises';
import { createTool } from '../../packages/gateway/src/domain/tools/change-tool.ts';
import { heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { push } from './client.ts';
import { type BenchDatabase, openDatabases } from './databases.ts';
import { percentile } from './percentiles.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';

const STEPS = 10;
const RUNS = 20;
const ROUNDS = 8;
const USED = ['tool_0', 'tool_1', 'tool_2', 'tool_3', 'tool_4'];
const MOST = 1.1;

/** The cost of a step of an agent that uses 5 tools of the registry, with no others in it and with 1,995 more. */
export async function benchGatewayRegisteredTools(): Promise<Report> {
  const databases = openDatabases();
  const measured: Measured[] = [];
  try {
    for (const [store, create] of [['SQLite', databases.sqlite] as const, ['PostgreSQL', databases.postgres] as const])
      for (const registered of [USED.length, 2_000]) measured.push(await prepare(store, registered, await create()));
    // They take turns, so that a slow phase of the machine affects all of them. The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) for (const one of measured) await runRound(one, round > 0);
    return toReport(measured);
  } finally {
    for (const { gateway } of measured) await gateway.stop();
    await databases.close();
  }
}

interface Measured {
  readonly store: string;
  readonly registered: number;
  readonly gateway: BenchGateway;
  readonly agents: string[];
  /** From one step to the next, in a run. */
  readonly stepMs: number[];
  /** Processor time of a round divided by its steps, including the claims of the runs. */
  readonly processorMs: number[];
}

async function prepare(store: string, registered: number, database: BenchDatabase): Promise<Measured> {
  const filling = await database.open();
  await filling.store.transaction(async (tx) => {
    for (let index = 0; index < registered; index++) await createTool(tx, toolConfig(index), { isTaken: () => false });
  });
  // A new agent each round, so that the model reads only the runs of this round.
  const agents = [...(await filling.agents(ROUNDS + 1, { model: 'instant', tools: [task.toolName, ...USED] }))];
  await filling.close();
  const tool = { terminal: false, visible: false };
  const spec = { tool, steps: STEPS, settings: database.settings, synchronous: 'NORMAL' } as const;
  return { store, registered, agents, gateway: await startGateway(spec), stepMs: [], processorMs: [] };
}

function toolConfig(index: number): object {
  return {
    name: `tool_${index}`,
    executionType: 'internal',
    description: 'Tells the rate of a currency.',
    inputSchema: { type: 'object', properties: { currency: { type: 'string' }, day: { type: 'string' } } },
    execution: { value: index },
  };
}

async function runRound({ gateway, agents, stepMs, processorMs }: Measured, counts: boolean): Promise<void> {
  const agent = agents.pop() ?? '';
  const before = await gateway.processorMs();
  for (let run = 0; run < RUNS; run++) {
    await push(gateway, agent);
    const ranAt: number[] = [];
    for (; ranAt.length < STEPS; ranAt.push(...(await gateway.ranAt()))) await sleep(5);
    if (counts) stepMs.push(...ranAt.slice(1).map((at, index) => at - (ranAt[index] ?? 0)));
  }
  if (counts) processorMs.push(((await gateway.processorMs()) - before) / (RUNS * STEPS));
}

function toReport(measured: readonly Measured[]): Report {
  const step = (one: Measured | undefined): number => percentile(one?.stepMs ?? [], 0.5);
  const processor = (one: Measured | undefined): number => percentile(one?.processorMs ?? [], 0.5);
  const few = (store: string): Measured | undefined => measured.find((one) => one.store === store);
  return {
    title: 'Tools of the registry that an agent does not use',
    claim: `Runs of ${STEPS} steps of an agent that names ${USED.length} tools of the registry and one of the file, which it calls; once with no others registered, once with 2,000 in all. Claim: a step costs at most ${MOST} times as much. The processor time includes the claims of the runs; the time from one step to the next does not.`,
    columns: ['', 'registered', 'from step to step, p50, ms', 'processor time a step, p50, ms', 'against 5'],
    rows: measured.map((one) => [
      one.store,
      one.registered,
      step(one),
      processor(one),
      `× ${(step(one) / step(few(one.store))).toFixed(2)}, × ${(processor(one) / processor(few(one.store))).toFixed(2)}`,
    ]),
    findings: ['SQLite', 'PostgreSQL'].flatMap((store) => {
      const many = measured.find((one) => one.store === store && one.registered > USED.length);
      return [
        heldAtMost(`${store}, from step to step`, step(many) / step(few(store)), MOST, ' times'),
        heldAtMost(`${store}, processor time a step`, processor(many) / processor(few(store)), MOST, ' times'),
      ];
    }),
  };
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayRegisteredTools()));
