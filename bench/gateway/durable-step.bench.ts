import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { push } from './client.ts';
import { type BenchDatabase, openDatabases } from './databases.ts';
import type { GatewaySpec } from './gateway-child.ts';
import { percentile } from './percentiles.ts';
import { startGateway } from './start-gateway.ts';

const STEPS = 200;
const ROUNDS = 6;

/** Runs a task of `steps` steps, and returns when the tool ran in each. */
export interface Stepper {
  readonly name: string;
  readonly of: string;
  /** One run. */
  run(steps: number): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** The cost of a step that survives the death of the process, or a power cut. */
export async function benchGatewayDurableStep(): Promise<Report> {
  const databases = openDatabases();
  const folder = await mkdtemp(join(tmpdir(), 'lastcall-bench-'));
  const steppers: Stepper[] = [];
  const leftOut: string[] = [];
  try {
    const internal = { terminal: false, visible: false };
    const visible = { terminal: false, visible: true };
    steppers.push(
      await ours('SQLite, synchronous = FULL', await databases.sqlite(), { tool: internal, synchronous: 'FULL' }),
      await ours('SQLite, synchronous = NORMAL', await databases.sqlite(), { tool: internal, synchronous: 'NORMAL' }),
      await ours('SQLite, FULL, shown in a space', await databases.sqlite(), { tool: visible, synchronous: 'FULL' }),
      await ours('PostgreSQL', await databases.postgres(), { tool: internal }),
      await ours('PostgreSQL, shown in a space', await databases.postgres(), { tool: visible }),
      ...(await peers(folder, leftOut)),
    );
    return toReport(await stepTimes(steppers), leftOut);
  } finally {
    for (const stepper of steppers) await stepper.close();
    await databases.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface StepTimes {
  readonly name: string;
  readonly of: string;
  readonly times: readonly number[];
}

/** They take turns, so that a slow phase of the machine affects all of them. The first round warms up. */
async function stepTimes(steppers: readonly Stepper[]): Promise<readonly StepTimes[]> {
  const measured = steppers.map((stepper) => ({ stepper, times: [] as number[] }));
  for (let round = 0; round <= ROUNDS; round++)
    for (const { stepper, times } of measured) {
      const ranAt = await stepper.run(STEPS);
      if (ranAt.length !== STEPS) throw new Error(`${stepper.name} ran the tool ${ranAt.length} times, not ${STEPS}.`);
      if (round > 0) times.push(...ranAt.slice(1).map((at, index) => at - (ranAt[index] ?? 0)));
    }
  return measured.map(({ stepper: { name, of }, times }) => ({ name, of, times }));
}

async function ours(
  name: string,
  database: BenchDatabase,
  spec: Pick<GatewaySpec, 'tool' | 'synchronous'>,
): Promise<Stepper> {
  const filling = await database.open();
  // A new agent each time, so that the model reads only this run and no earlier ones.
  const agents = [...(await filling.agents(ROUNDS + 1, { model: 'instant', tools: [task.toolName] }))];
  const rooms: string[] = [];
  for (const agent of agents) rooms.push((await filling.room(agent)).spaceId);
  await filling.close();
  const gateway = await startGateway({ ...spec, settings: database.settings, steps: STEPS });
  return {
    name,
    of: '@lastcall/gateway',
    async run(steps) {
      await push(gateway, agents.pop() ?? '');
      const ranAt: number[] = [];
      // Polls so rarely that the polling does not affect the measurement.
      for (; ranAt.length < steps; ranAt.push(...(await gateway.ranAt()))) await sleep(50);
      return ranAt;
    },
    close: async () => void (await gateway.stop()),
  };
}

const PEERS = ['langgraph', 'ai-sdk'] as const;

/** A peer that cannot be loaded, for example because its native part was built for another Node, is left out and named. */
async function peers(folder: string, leftOut: string[]): Promise<readonly Stepper[]> {
  const started = await Promise.allSettled(PEERS.map(async (name) => (await loadPeer(name)).steppers(folder)));
  return started.flatMap((peer, index) => {
    if (peer.status === 'fulfilled') return peer.value;
    console.warn('A peer is left out:', peer.reason);
    leftOut.push(`${PEERS[index]} is left out, because it could not be loaded.`);
    return [];
  });
}

// Imported by URL: the peers are installed separately and may be missing when the types are checked.
async function loadPeer(name: string): Promise<{ steppers: (folder: string) => readonly Stepper[] }> {
  return await import(new URL(`../peers/gateway/${name}.ts`, import.meta.url).href);
}

function toReport(all: readonly StepTimes[], leftOut: readonly string[]): Report {
  const has = (name: string): boolean => all.some((one) => one.name === name);
  const p50 = (name: string): number => percentile(all.find((one) => one.name === name)?.times ?? [], 0.5);
  const full = p50('SQLite, synchronous = FULL');
  const normal = p50('SQLite, synchronous = NORMAL');
  return {
    title: 'What a durable step costs',
    claim:
      `A run of ${STEPS} steps: the model, which answers at once, calls one TypeScript tool with outside effects. Before the ` +
      "tool runs, the end of the previous call, the model's reply and the start of this call are durable. Measured from one start of " +
      'the tool to the next, in turns; each gateway runs in a separate process, the peers in that of the benchmark.',
    columns: ['', 'package', 'steps', 'p50, ms', 'p95, ms', 'against SQLite FULL'],
    rows: all.map(({ name, of, times }) => [
      name,
      of,
      times.length,
      percentile(times, 0.5),
      percentile(times, 0.95),
      `× ${(percentile(times, 0.5) / full).toPrecision(3)}`,
    ]),
    findings: [
      heldAtMost('SQLite, synchronous = FULL, p50', full, 0.7, ' ms'),
      heldAtMost('PostgreSQL, p50', p50('PostgreSQL'), 2, ' ms'),
      ...(has(LANGGRAPH)
        ? [
            heldAtMost(
              'SQLite FULL / LangGraph with its SQLite checkpointer, synchronous = FULL',
              full / p50(LANGGRAPH),
              1,
            ),
          ]
        : []),
      ...(has(AI_SDK) ? [heldAtMost('SQLite NORMAL / `streamText` in memory', normal / p50(AI_SDK), 1)] : []),
      ...leftOut,
    ],
  };
}

const AI_SDK = '`streamText`, in memory';
const LANGGRAPH = 'LangGraph, SqliteSaver, synchronous = FULL';

if (import.meta.main) console.log(toMarkdown(await benchGatewayDurableStep()));
