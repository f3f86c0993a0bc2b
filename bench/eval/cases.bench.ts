import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import { z } from 'zod';
import { openDatabases } from '../gateway/databases.ts';
import { heldAtLeast } from '../held.ts';
import type { Report } from '../report.ts';

const CASES: number = Number(process.env.BENCH_CASES ?? 1_000);
const LEAST_PER_SECOND = 200;
/** Each can be forked a thousand times. */
const RECORDED_RUNS = 20;
const STORES = (['sqlite', 'postgres'] as const).filter((kind) => (process.env.BENCH_STORE ?? kind).includes(kind));
const KEY = 'a-secret-key-of-the-benchmark';

/** `lastcall eval` with a model that answers at once: how many cases a second, and what they cost in time and memory. */
export async function benchEvalCases(): Promise<Report> {
  const databases = openDatabases();
  const rows: Row[] = [];
  try {
    rows.push(['turns in the process', ...(await measure('turn.eval.js', {}))]);
    for (const kind of STORES) {
      const { settings } = await databases[kind]();
      rows.push([`recorded runs of a gateway, ${kind}`, ...(await measureRecorded(settings))]);
    }
  } finally {
    await databases.close();
  }
  const [, turns = 0] = rows[0] ?? [];
  return {
    title: 'Evaluations',
    claim: `\`lastcall eval\` runs ${CASES} cases with one call each and a model that answers at once. The command is a process; the gateway is in that of the benchmark. Claim: at least ${LEAST_PER_SECOND} turns a second. A case of a recorded run is a fork: a durable run and four requests. Start-up is left out: the time is that of the report. Memory: the highest resident set of the command with ${CASES} cases, and with five times as many.`,
    columns: [
      '',
      'cases a second',
      'command, ms of processor per case',
      'gateway, ms per case',
      'MB',
      'MB, five times',
    ],
    rows,
    findings: [heldAtLeast('Turns', turns, LEAST_PER_SECOND, ' a second')],
  };
}

type Figures = readonly [
  perSecond: number,
  own: number,
  gateway: number | string,
  mb: number,
  mbOfMore: number | string,
];
type Row = readonly [string, ...Figures];

async function measure(file: string, env: Readonly<Record<string, string>>): Promise<Figures> {
  const before = process.cpuUsage();
  const { ms, processorMs, mb } = await evaluate(file, CASES, env);
  const { user, system } = process.cpuUsage(before);
  const isOfGateway = file === 'recorded.eval.js';
  const gateway = isOfGateway ? (user + system) / 1_000 / CASES : '–';
  const more = isOfGateway ? '–' : (await evaluate(file, 5 * CASES, env)).mb;
  return [(CASES * 1_000) / ms, processorMs / CASES, gateway, mb, more];
}

async function measureRecorded(
  settings: { readonly home: string } | { readonly databaseUrl: string },
): Promise<Figures> {
  const look = tool({
    description: 'Looks up an order.',
    inputSchema: z.object({ order: z.string() }),
    execute: ({ order }) => `Order ${order} was sent on Monday.`,
  });
  const model = scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === 'tool' ? 'It was sent on Monday.' : { toolName: 'look', input: { order: 'A-17' } },
  );
  const agents = [{ name: 'Desk', instructions: 'You help customers.', tools: ['look'] }];
  await using gateway = await startTestGateway({ ...settings, model, tools: { look }, agents, secretKey: KEY });
  const runs: string[] = [];
  for (let at = 0; at < RECORDED_RUNS; at++)
    runs.push((await gateway.api('/chat', { agent: 'Desk', message: 'Where is order A-17?' })).run_id);
  return await measure('recorded.eval.js', {
    ...{ LASTCALL_URL: gateway.url, LASTCALL_SECRET_KEY: KEY, BENCH_RUN_IDS: runs.join(',') },
  });
}

interface Measured {
  /** Without the time in which the command starts, as the report says. */
  readonly ms: number;
  readonly processorMs: number;
  readonly mb: number;
}

async function evaluate(file: string, cases: number, env: Readonly<Record<string, string>>): Promise<Measured> {
  const out = await mkdtemp(join(tmpdir(), 'lastcall-bench-eval-'));
  try {
    const bin = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'bin.ts');
    const wrapper = join(import.meta.dirname, 'report-resources.js');
    const flags = [...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? []), '--conditions=@lastcall/source'];
    const args = ['eval', join(import.meta.dirname, file), '--json', '--parallel', '16', '--out', out];
    const child = spawn(process.execPath, [...flags, '--import', wrapper, bin, ...args], {
      env: { ...process.env, ...env, BENCH_CASES: String(cases) },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const [report, said, resources] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      textOf(child.stdio[3] as NodeJS.ReadableStream),
      once(child, 'exit'),
    ]);
    if (child.exitCode !== 0) throw new Error(`lastcall eval failed: ${said}`);
    const { ms, failed, scores } = JSON.parse(report);
    if (failed > 0 || scores.answer.mean !== 1) throw new Error(`Cases failed: ${failed}, ${scores.answer.mean}.`);
    return { ms, ...JSON.parse(resources) };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}
