import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../gateway/percentiles.ts';
import { type Held, heldAtMost } from '../held.ts';
import { type Report, toMarkdown } from '../report.ts';
import { chosenEngines, openEngines, RUNS_AT_ONCE, STEPS, startOrLeaveOut } from './all-engines.ts';
import type { StartedEngine } from './start-engine.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 6);
/** Rounds before those that are measured: code in many small functions, such as ours, is optimized late. */
const WARM_UP_ROUNDS = 4;
const WAKES_A_ROUND = 20;
/** Fewer rounds, because each measures many steps. */
const ROUNDS_AT_ONCE = Math.ceil(ROUNDS / 3);
const POLL_MS = 10;
/** Time for the work that a run leaves, so that it does not slow down the next run. */
const REST_MS = 50;

interface Measured {
  readonly engine: StartedEngine;
  readonly alone: number[];
  readonly atOnce: number[];
  readonly wakes: number[];
  sleepers: readonly string[];
}

/** What a durable step and a wake cost, compared with other engines. */
export async function benchEnginesSteps(): Promise<Report> {
  const engines = await openEngines();
  const measured: Measured[] = [];
  const leftOut: string[] = [];
  try {
    for (const file of chosenEngines()) {
      const engine = await startOrLeaveOut(engines, file, leftOut);
      if (engine !== undefined) measured.push({ engine, alone: [], atOnce: [], wakes: [], sleepers: [] });
    }
    await measureInTurns(measured);
    return toReport(measured, leftOut);
  } finally {
    for (const { engine } of measured) await engine.stop();
    await engines.close();
  }
}

/** The engines take turns, so that a slow phase of the machine affects all of them. */
async function measureInTurns(measured: readonly Measured[]): Promise<void> {
  for (const one of measured)
    one.sleepers = (await one.engine.worker.call('waiters', (ROUNDS + 1) * WAKES_A_ROUND)) ?? [];
  await inTurns(measured, { warmUp: WARM_UP_ROUNDS, rounds: ROUNDS }, async ({ engine, alone }, round) => {
    const times = await stepTimes(engine, [`alone-${round}`]);
    if (round >= 0) alone.push(...times);
  });
  await inTurns(measured, { warmUp: 1, rounds: ROUNDS_AT_ONCE }, async ({ engine, atOnce }, round) => {
    const times = await stepTimes(engine, runsOf(round));
    if (round >= 0) atOnce.push(...times);
  });
  await inTurns(measured, { warmUp: 1, rounds: ROUNDS }, async (one, round) => {
    const times = await wakeTimes(one, round + 1);
    if (round >= 0) one.wakes.push(...times);
  });
}

/** Rounds below 0 warm up. */
async function inTurns(
  measured: readonly Measured[],
  { warmUp, rounds }: { warmUp: number; rounds: number },
  measure: (one: Measured, round: number) => Promise<void>,
): Promise<void> {
  for (let round = -warmUp; round < rounds; round++) for (const one of measured) await measure(one, round);
}

function runsOf(round: number): readonly string[] {
  return Array.from({ length: RUNS_AT_ONCE }, (_, index) => `at-once-${round}-${index}`);
}

/** The times from one call of the tool to the next, in all runs. */
async function stepTimes({ name, worker }: StartedEngine, runs: readonly string[]): Promise<readonly number[]> {
  const ranAt = await worker.call<readonly (readonly number[])[]>('runAll', runs);
  await sleep(REST_MS);
  return ranAt.flatMap((times, index) => {
    if (times.length !== STEPS) throw new Error(`${name} ran the tool ${times.length} times in ${runs[index]}.`);
    return times.slice(1).map((at, before) => at - (times[before] ?? 0));
  });
}

/** Each sleeper is woken once, because not all engines let one wait again. */
async function wakeTimes({ engine, sleepers }: Measured, turn: number): Promise<readonly number[]> {
  await engine.worker.call('ranAt');
  const times: number[] = [];
  for (const sleeper of sleepers.slice(turn * WAKES_A_ROUND, (turn + 1) * WAKES_A_ROUND)) {
    const sentAt = await engine.client.call<number>('send', sleeper, 0);
    times.push((await nextRun(engine)) - sentAt);
    await sleep(REST_MS);
  }
  return times;
}

async function nextRun({ name, worker }: StartedEngine): Promise<number> {
  for (let waited = 0; waited < 30_000; waited += POLL_MS) {
    const [ranAt] = await worker.call<readonly number[]>('ranAt');
    if (ranAt !== undefined) return ranAt;
    await sleep(POLL_MS);
  }
  throw new Error(`${name} did not wake within 30 s.`);
}

function toReport(measured: readonly Measured[], leftOut: readonly string[]): Report {
  const p50 = (name: string, of: 'alone' | 'atOnce' | 'wakes'): number =>
    percentile(measured.find(({ engine }) => engine.name === name)?.[of] ?? [], 0.5);
  const ours = p50('Lastcall, PostgreSQL', 'alone');
  return {
    title: 'A durable step and a wake, beside durable engines',
    claim:
      `A step is a model that answers at once, whose reply is durable before the tool runs, and the tool, whose result is durable ` +
      `before the next step: from one run of the tool to the next, in runs of ${STEPS}, one run at a time and ${RUNS_AT_ONCE} at once. ` +
      'A wake is from a message of a client in another process until the tool of a sleeping agent runs, one at a time. All engines ' +
      'that use PostgreSQL share one server; each engine’s worker runs in a separate process, in turns.',
    columns: [
      '',
      'package',
      'step p50, ms',
      'against ours',
      `${RUNS_AT_ONCE} at once p50, ms`,
      'wake p50, ms',
      'wake p95, ms',
    ],
    rows: measured.map(({ engine, alone, atOnce, wakes }) => [
      engine.name,
      engine.of,
      percentile(alone, 0.5),
      `× ${(percentile(alone, 0.5) / ours).toPrecision(3)}`,
      percentile(atOnce, 0.5),
      wakes.length === 0 ? '–' : percentile(wakes, 0.5),
      wakes.length === 0 ? '–' : percentile(wakes, 0.95),
    ]),
    findings: [
      ...heldSteps(measured, 'PostgreSQL'),
      ...heldSteps(measured, 'SQLite'),
      ...(p50('DBOS, PostgreSQL', 'wakes') > 0
        ? [
            heldAtMost(
              'A wake on PostgreSQL / that of DBOS, p50',
              p50('Lastcall, PostgreSQL', 'wakes') / p50('DBOS, PostgreSQL', 'wakes'),
              1,
            ),
          ]
        : []),
      ...measured.map(({ engine }) => `${engine.name}: ${engine.guarantee}`),
      ...leftOut,
    ],
  };
}

/** Restate has its own store, so both of ours are compared with it. */
function heldSteps(measured: readonly Measured[], store: 'PostgreSQL' | 'SQLite'): readonly Held[] {
  const p50 = ({ alone }: Measured): number => percentile(alone, 0.5);
  const ours = measured.find(({ engine }) => engine.name === `Lastcall, ${store}`);
  const peers = measured.filter(({ engine: { name } }) => name === 'Restate' || name.endsWith(store));
  const fastest = Math.min(...peers.filter((one) => one !== ours).map(p50));
  if (ours === undefined || !Number.isFinite(fastest)) return [];
  return [heldAtMost(`A step on ${store} / that of the fastest peer, p50`, p50(ours) / fastest, 0.6)];
}

if (import.meta.main) console.log(toMarkdown(await benchEnginesSteps()));
