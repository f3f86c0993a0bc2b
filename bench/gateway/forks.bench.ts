import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { defineAgent } from '@lastcall/gateway';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { charter, node } from '@lastcall/machines';
import { z } from 'zod';
import { heldAtMost } from '../held.ts';
import type { Report } from '../report.ts';
import { openDatabases } from './databases.ts';

const STEPS = 300;
const MOST_MS = 1_000;
const ROUNDS = 5;

/** How long it takes from the request for a fork of a long run, at its end, to the first request to the model. */
export async function benchGatewayForks(): Promise<Report> {
  const databases = openDatabases();
  const rows: (readonly [string, number, number])[] = [];
  try {
    for (const kind of ['sqlite', 'postgres'] as const) {
      const { settings } = await databases[kind]();
      const all = await forkTimes(settings);
      for (const agent of AGENTS) {
        const times = all[agent];
        rows.push([`${kind}, ${agent}`, times[Math.floor(times.length / 2)] ?? 0, times.at(-1) ?? 0]);
      }
    }
  } finally {
    await databases.close();
  }
  const slowest = Math.max(...rows.map(([, , most]) => most));
  return {
    title: 'A fork of a long run',
    claim: `A run of ${STEPS} steps with one call each, of a turn and of a machine with one node, is forked at its last step, ${ROUNDS} times. Measured from the HTTP request to the first request to the model. Claim: less than a second.`,
    columns: ['', 'median, ms', 'slowest, ms'],
    rows,
    findings: [heldAtMost('The slowest fork', slowest, MOST_MS, ' ms')],
  };
}

const AGENTS = ['turn', 'machine'] as const;

/** The times of each agent, in ascending order. */
async function forkTimes(
  settings: { readonly home: string } | { readonly databaseUrl: string },
): Promise<Record<(typeof AGENTS)[number], number[]>> {
  let asked: (() => void) | undefined;
  const model = scriptedModel(
    Array.from({ length: 2 * (STEPS + ROUNDS) }, (_, count) => () => {
      const index = count % (STEPS + ROUNDS);
      asked?.();
      return index < STEPS - 1 ? { toolName: 'look', input: { n: index } } : 'Done.';
    }),
  );
  const look = tool({
    description: 'Looks.',
    inputSchema: z.object({ n: z.number() }),
    effects: 'none',
    execute: ({ n }) => `Saw ${n}. `.repeat(20),
  });
  await using gateway = await startTestGateway({
    ...settings,
    model,
    tools: { look },
    definitions: {
      looker: defineAgent({ machine: charter({ nodes: { root: node({ instructions: 'Look.', tools: { look } }) } }) }),
    },
    agents: [
      { name: 'turn', instructions: 'Look.', tools: ['look'], limits },
      { name: 'machine', definition: 'looker', limits },
    ],
  });
  const measured = { turn: [] as number[], machine: [] as number[] };
  for (const agent of AGENTS)
    measured[agent] = await timesOf(gateway, agent, (onAsked) => {
      asked = onAsked;
    });
  return measured;
}

const limits = { maxSteps: STEPS + 10, tokensPerCycle: 1e9, consciousnessTokens: 1e7 };

async function timesOf(
  gateway: TestGateway,
  agent: string,
  whenAsked: (onAsked: () => void) => void,
): Promise<number[]> {
  const { run_id: runId } = await gateway.api('/chat', { agent, message: 'Look around.' });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { promise, resolve } = Promise.withResolvers<void>();
    whenAsked(resolve);
    const startedAt = performance.now();
    const answer = await gateway.api(`/api/runs/${runId}/forks`, { atStep: STEPS });
    if (answer.runId === undefined) throw new Error(`The fork was refused: ${JSON.stringify(answer)}`);
    await promise;
    times.push(performance.now() - startedAt);
  }
  return times.sort((one, other) => one - other);
}
