import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Held, heldAtLeast } from '../held.ts';
import { median } from '../measure.ts';
import { postgresPid, processorMsOf } from '../processor-time.ts';
import { type Report, toMarkdown } from '../report.ts';
import { chosenEngines, type Engines, leaveOut, openEngines, startOrLeaveOut } from './all-engines.ts';
import type { EngineStore } from './engine.ts';
import type { EngineFile, StartedEngine } from './start-engine.ts';

const AGENTS = Number(process.env.BENCH_AGENTS ?? 1_000);
const MESSAGES_EACH = Number(process.env.BENCH_MESSAGES ?? 8);
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 32);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 2);
const POLL_MS = 100;
/** Until the sleepers sleep, and until what the last step left is done. */
const SETTLE_MS = 2_000;
const STALLED_MS = 60_000;
const processors = availableParallelism();

interface Handled {
  readonly perSecond: number;
  /** Processor time per message. */
  readonly workerMs: number;
  readonly storeMs: number;
  readonly clientMs: number;
}

interface Measured extends Pick<StartedEngine, 'name' | 'of' | 'store'> {
  readonly rounds: Handled[];
}

/** A thousand sleepers that get messages from outside while they work, beside other engines. */
export async function benchEnginesMessages(): Promise<Report> {
  const engines = await openEngines();
  const measured = new Map<string, Measured>();
  const leftOut: string[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const file of chosenEngines()) await measure(file, { engines, measured, leftOut });
    return toReport([...measured.values()], leftOut);
  } finally {
    await engines.close();
  }
}

interface Measurement {
  readonly engines: Engines;
  readonly measured: Map<string, Measured>;
  readonly leftOut: string[];
}

/** One engine at a time, from an empty store: what others do when idle costs it nothing. */
async function measure(file: EngineFile, { engines, measured, leftOut }: Measurement): Promise<void> {
  if (leftOut.some((line) => line.startsWith(file.name))) return;
  const engine = await startOrLeaveOut(engines, file, leftOut);
  if (engine === undefined) return;
  try {
    const agents = await engine.worker.call<readonly string[] | undefined>('sleepers', AGENTS);
    if (agents === undefined) {
      leftOut.push(`${file.name} is left out: it keeps no messages for an agent that is working.`);
      return;
    }
    const { name, of, store } = engine;
    const handled = await handle(engine, agents);
    if (!measured.has(name)) measured.set(name, { name, of, store, rounds: [] });
    measured.get(name)?.rounds.push(handled);
  } catch (error) {
    leaveOut(file, error, leftOut);
  } finally {
    await engine.stop();
  }
}

async function handle(engine: StartedEngine, agents: readonly string[]): Promise<Handled> {
  await sleep(SETTLE_MS);
  const before = await processorTimes(engine);
  const posting = engine.client.call<number>('post', { agents, each: MESSAGES_EACH, atOnce: CONNECTIONS });
  const [startedAt, endedAt] = await Promise.all([posting, lastRun(engine)]);
  await sleep(SETTLE_MS);
  const after = await processorTimes(engine);
  const messages = AGENTS * MESSAGES_EACH;
  return {
    perSecond: (messages * 1_000) / (endedAt - startedAt),
    workerMs: (after.worker - before.worker) / messages,
    storeMs: (after.store - before.store) / messages,
    clientMs: (after.client - before.client) / messages,
  };
}

async function processorTimes({ worker, client, store }: StartedEngine) {
  return {
    worker: await worker.call<number>('processorMs'),
    client: await client.call<number>('processorMs'),
    store: storeMs(store),
  };
}

function storeMs(store: EngineStore): number {
  if (store === 'embedded') return 0;
  return processorMsOf(store === 'postgres' ? postgresPid() : store.pid);
}

/** When the tool ran for the last message. */
async function lastRun({ name, worker }: StartedEngine): Promise<number> {
  let [ran, last, stalledMs] = [0, 0, 0];
  while (ran < AGENTS * MESSAGES_EACH) {
    const times = await worker.call<readonly number[]>('ranAt');
    ran += times.length;
    last = times.reduce((latest, at) => Math.max(latest, at), last);
    stalledMs = times.length === 0 ? stalledMs + POLL_MS : 0;
    if (stalledMs > STALLED_MS) throw new Error(`${name} handled ${ran} messages and then none for a minute.`);
    await sleep(POLL_MS);
  }
  if (ran !== AGENTS * MESSAGES_EACH) throw new Error(`${name} ran the tool ${ran} times.`);
  return last;
}

function toReport(all: readonly Measured[], leftOut: readonly string[]): Report {
  const perSecond = ({ rounds }: Measured): number => median(rounds.map((round) => round.perSecond));
  const ours = all.find(({ name }) => name === 'Lastcall, PostgreSQL');
  return {
    title: 'Messages posted from outside, beside durable engines',
    claim:
      `${AGENTS.toLocaleString('en')} sleepers, ${MESSAGES_EACH} messages each from a client in another process, ${CONNECTIONS} at a time ` +
      'and each durable before the next, while the agents work; each message causes a step as above. Handled from the first message ' +
      'until the last tool ran; processor time per message. One engine at a time from an empty store, in turns, the median of ' +
      `${ROUNDS}; worker, store and client share ${processors} processors. Over HTTP the client does very little; ` +
      'the clients of DBOS and Absurd write to PostgreSQL themselves.',
    columns: [
      '',
      'package',
      'messages per second',
      'against ours',
      'worker CPU, ms',
      'store CPU, ms',
      'client CPU, ms',
    ],
    rows: all.map((one) => [
      one.name,
      one.of,
      perSecond(one),
      ours === undefined ? '–' : `× ${(perSecond(one) / perSecond(ours)).toPrecision(3)}`,
      median(one.rounds.map(({ workerMs }) => workerMs)),
      one.store === 'embedded' ? '–' : median(one.rounds.map((round) => round.storeMs)),
      median(one.rounds.map(({ clientMs }) => clientMs)),
    ]),
    findings: [...held(all, 'PostgreSQL', 1), ...held(all, 'SQLite', 1.2), ...changedProcessors(), ...leftOut],
  };
}

/** A long run on a shared machine may lose a processor half-way, and then its rows were not measured alike. */
function changedProcessors(): readonly string[] {
  const left = availableParallelism();
  if (left === processors) return [];
  return [`${processors} processors at the start, ${left} at the end: messages per second do not compare.`];
}

/** Ours on each store against the fastest of all peers. */
function held(all: readonly Measured[], store: string, least: number): readonly Held[] {
  const perSecond = ({ rounds }: Measured): number => median(rounds.map((round) => round.perSecond));
  const ours = all.find(({ name }) => name === `Lastcall, ${store}`);
  const peers = all.filter(({ name }) => !name.startsWith('Lastcall'));
  if (ours === undefined || peers.length === 0) return [];
  return [
    heldAtLeast(
      `Messages per second on ${store} / those of the fastest peer`,
      perSecond(ours) / Math.max(...peers.map(perSecond)),
      least,
    ),
  ];
}

if (import.meta.main) console.log(toMarkdown(await benchEnginesMessages()));
