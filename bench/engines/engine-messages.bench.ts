import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Held, heldAtLeast, heldAtMost } from '../held.ts';
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
/** Messages to each agent before those that are measured: code in many small functions is optimized late. */
const WARM_UP_EACH = 2;
/** How long the model takes: no time, and as long as a fast one. */
const MODELS = [
  { modelMs: 0, name: 'answers at once' },
  { modelMs: 200, name: 'takes 200 ms' },
] as const;
/** Time for the sleepers to fall asleep, and for the work that the last step left. */
const SETTLE_MS = 2_000;
const STALLED_MS = 60_000;
/** About how long the messages of a slow engine may take. */
const LONGEST_S = 60;
const processors = availableParallelism();

interface Handled {
  readonly perSecond: number;
  /** Processor time per message. */
  readonly workerMs: number;
  readonly storeMs: number;
  readonly clientMs: number;
}

interface Measured extends Pick<StartedEngine, 'name' | 'of' | 'store'> {
  readonly model: (typeof MODELS)[number];
  readonly rounds: Handled[];
}

/** Compares engines: a thousand sleepers get messages from another process while they work. */
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

/** One engine at a time, from an empty store, so that the idle work of the others costs it nothing. */
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
    const warmUp = await handle(engine, { agents, each: WARM_UP_EACH });
    const each = messagesEach(warmUp.perSecond);
    for (const model of MODELS) {
      const key = `${name} ${model.modelMs}`;
      if (!measured.has(key)) measured.set(key, { name, of, store, model, rounds: [] });
      await engine.worker.call('setModelMs', model.modelMs);
      measured.get(key)?.rounds.push(await handle(engine, { agents, each }));
    }
  } catch (error) {
    leaveOut(file, error, leftOut);
  } finally {
    await engine.stop();
  }
}

/** A slow engine gets fewer messages: all of them would take it a quarter of an hour. */
function messagesEach(perSecond: number): number {
  const each = Math.floor((perSecond * LONGEST_S) / AGENTS);
  return Math.min(Math.max(each, 1), MESSAGES_EACH);
}

interface Posts {
  readonly agents: readonly string[];
  /** Messages to each of them. */
  readonly each: number;
}

async function handle(engine: StartedEngine, { agents, each }: Posts): Promise<Handled> {
  await sleep(SETTLE_MS);
  const messages = agents.length * each;
  const before = await processorTimes(engine);
  const posting = engine.client.call<number>('post', { agents, each, atOnce: CONNECTIONS });
  const [startedAt, endedAt] = await Promise.all([posting, lastRun(engine, messages)]);
  await sleep(SETTLE_MS);
  const after = await processorTimes(engine);
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
async function lastRun({ name, worker }: StartedEngine, messages: number): Promise<number> {
  let [ran, last, stalledMs] = [0, 0, 0];
  while (ran < messages) {
    const times = await worker.call<readonly number[]>('ranAt');
    ran += times.length;
    last = times.reduce((latest, at) => Math.max(latest, at), last);
    stalledMs = times.length === 0 ? stalledMs + POLL_MS : 0;
    if (stalledMs > STALLED_MS) throw new Error(`${name} handled ${ran} messages and then none for a minute.`);
    await sleep(POLL_MS);
  }
  if (ran !== messages) throw new Error(`${name} ran the tool ${ran} times.`);
  return last;
}

function toReport(all: readonly Measured[], leftOut: readonly string[]): Report {
  return {
    title: 'Messages posted from outside, beside durable engines',
    claim:
      `${AGENTS.toLocaleString('en')} sleepers, ${MESSAGES_EACH} messages each from a client in another process, ${CONNECTIONS} at a time ` +
      'and each durable before the next, while the agents work; each message causes a step as above. The model answers at once, or takes ' +
      `200 ms. Handled from the first message until the last tool ran; processor time per message. ${WARM_UP_EACH} messages each come before ` +
      `those that count, and an engine that would take more than ${LONGEST_S} s gets fewer. One engine at a time from an empty store, in turns, the median of ${ROUNDS}; worker, store and client share ` +
      `${processors} processors. Over HTTP the client does very little; the clients of DBOS and Absurd write to PostgreSQL themselves.`,
    columns: [
      'the model',
      '',
      'package',
      'messages per second',
      'against ours',
      'worker CPU, ms',
      'store CPU, ms',
      'client CPU, ms',
    ],
    rows: MODELS.flatMap((model) => rowsOf(all.filter((one) => one.model === model))),
    findings: [
      ...MODELS.flatMap((model) => held(all.filter((one) => one.model === model))),
      ...changedProcessors(),
      ...leftOut,
    ],
  };
}

function perSecond({ rounds }: Measured): number {
  return median(rounds.map((round) => round.perSecond));
}

function rowsOf(all: readonly Measured[]): Report['rows'] {
  const ours = all.find(({ name }) => name === 'Lastcall, PostgreSQL');
  return all.map((one) => [
    one.model.name,
    one.name,
    one.of,
    perSecond(one),
    ours === undefined ? '–' : `× ${(perSecond(one) / perSecond(ours)).toPrecision(3)}`,
    median(one.rounds.map(({ workerMs }) => workerMs)),
    one.store === 'embedded' ? '–' : median(one.rounds.map((round) => round.storeMs)),
    median(one.rounds.map(({ clientMs }) => clientMs)),
  ]);
}

/** A shared machine may lose a processor during a long benchmark; its rows cannot be compared then. */
function changedProcessors(): readonly string[] {
  const left = availableParallelism();
  if (left === processors) return [];
  return [`${processors} processors at the start, ${left} at the end: messages per second do not compare.`];
}

/** Ours on each store against the fastest of all peers, and the processor time of worker and store against Restate's. */
function held(all: readonly Measured[]): readonly Held[] {
  const peers = all.filter(({ name }) => !name.startsWith('Lastcall'));
  const find = (name: string): Measured | undefined => all.find((one) => one.name === name);
  const [postgres, sqlite, restate] = [find('Lastcall, PostgreSQL'), find('Lastcall, SQLite'), find('Restate')];
  if (peers.length === 0) return [];
  const fastest = Math.max(...peers.map(perSecond));
  const atLeast = (store: string, ours: Measured | undefined, least: number): readonly Held[] =>
    ours === undefined
      ? []
      : [
          heldAtLeast(
            `The model ${ours.model.name}: messages per second on ${store} / those of the fastest peer`,
            perSecond(ours) / fastest,
            least,
          ),
        ];
  return [
    ...atLeast('PostgreSQL', postgres, 1),
    ...atLeast('SQLite', sqlite, 1.2),
    ...(postgres === undefined || restate === undefined
      ? []
      : [
          heldAtMost(
            `The model ${postgres.model.name}: processor time of worker and store on PostgreSQL / Restate's`,
            processorMs(postgres) / processorMs(restate),
            1.2,
          ),
        ]),
  ];
}

function processorMs({ rounds }: Measured): number {
  return median(rounds.map(({ workerMs, storeMs: ofStore }) => workerMs + ofStore));
}

if (import.meta.main) console.log(toMarkdown(await benchEnginesMessages()));
