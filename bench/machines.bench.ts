import { Transcript, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import {
  charter,
  createMachine,
  deserializeMachine,
  type Machine,
  type MachineJson,
  node,
  runMachine,
  serializeMachine,
  spawn,
} from '@lastcall/machines';
import { z } from 'zod';
import { heldAtMost } from './held.ts';
import { median } from './measure.ts';
import type { Report } from './report.ts';

const act = tool({ description: 'Acts.', inputSchema: z.object({}), effects: 'none', execute: () => 'acted' });

const rest = tool({
  description: 'Waits for somebody.',
  inputSchema: z.object({}),
  effects: 'none',
  approval: true,
  execute: () => 'rested',
});

/** Acts in every step, or waits for an answer and costs nothing meanwhile. */
const worker = node({
  worker: true,
  instructions: 'Work.',
  state: z.object({ isActive: z.boolean() }),
  tools: { act, rest },
});
const lead = node({
  instructions: 'Lead.',
  transitions: {
    hire: {
      description: 'Hires workers.',
      inputSchema: z.object({ active: z.number(), waiting: z.number() }),
      targets: ['worker'],
      handler: ({ active, waiting }: { active: number; waiting: number }) =>
        spawn(
          Array.from({ length: active + waiting }, (_, index) => ({
            node: 'worker',
            state: { isActive: index < active },
          })),
        ),
    },
  },
});
const company = charter({ nodes: { lead, worker } });

/** A tree with `active` workers that act in every step, and `waiting` workers that wait. */
async function grow(active: number, waiting: number): Promise<Machine> {
  const machine = createMachine(company, { root: 'lead' });
  const leads = scriptedModel([{ toolName: 'transition_hire', input: { active, waiting } }]);
  const steps = runMachine(machine, {
    input: 'Go.',
    maxSteps: 2,
    model: ({ worker: isWorker, instanceId }) => (isWorker ? workerModel(machine.instance(instanceId)) : leads),
  });
  for await (const _step of steps);
  return machine;
}

const acting = scriptedModel(() => ({ toolName: 'act' }));
const resting = scriptedModel(() => ({ toolName: 'rest' }));

function workerModel(instance: ReturnType<Machine['instance']>): typeof acting {
  return instance?.state.isActive === true ? acting : resting;
}

const STEPS = 20;

async function microsecondsPerStep(machine: Machine): Promise<number> {
  const startedAt = performance.now();
  for await (const _step of runMachine(machine, { model: acting, maxSteps: STEPS }));
  return ((performance.now() - startedAt) * 1_000) / STEPS;
}

const ROUNDS = 15;

const LONG = 5_000;

/** A stored machine with one leaf that has made this many steps in one conversation. */
async function conversed(steps: number): Promise<MachineJson> {
  const machine = createMachine(charter({ nodes: { solo } }), { root: 'solo' });
  for await (const _step of runMachine(machine, { input: 'Go.', maxSteps: steps, model: freshModel }));
  return JSON.parse(JSON.stringify(serializeMachine(machine)));
}

const solo = node({ instructions: 'Act.', tools: { act } });
// A scripted model keeps its requests, and a long conversation is sent thousands of times.
const freshModel = () => scriptedModel(() => ({ toolName: 'act' }));

interface RestoredSteps {
  /** The first step after the restore: it also builds the messages for the model from the whole conversation. */
  readonly first: number;
  /** Each later step, without the copy of the messages for the model. */
  readonly next: number;
}

async function stepsAfter(json: MachineJson): Promise<RestoredSteps> {
  const machine = deserializeMachine(charter({ nodes: { solo } }), json);
  const transcript = Transcript.fromJSON(json.threads.root?.transcript ?? { version: 1, entries: [] });
  transcript.view();
  const startedAt = processorUs();
  let firstAt = startedAt;
  for await (const _step of runMachine(machine, { maxSteps: STEPS + 1, model: freshModel }))
    if (firstAt === startedAt) firstAt = processorUs();
  const steppedAt = processorUs();
  for (let step = 0; step < STEPS; step++) transcript.view().unshift({ role: 'system', content: '' });
  const copying = processorUs() - steppedAt;
  return { first: firstAt - startedAt, next: (steppedAt - firstAt - copying) / STEPS };
}

/** Processor time, because other work on the same machine delays a long step more than a short one. */
function processorUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The cost of a step depends on how many workers act in it, not on how many exist. The cost of storing depends on the size. */
export async function benchMachines(): Promise<Report> {
  const [alone, crowd] = [await grow(10, 0), await grow(10, 990)];
  const rounds: { alone: number; crowd: number }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ alone: await microsecondsPerStep(alone), crowd: await microsecondsPerStep(crowd) });
  const aloneUs = median(rounds.map((round) => round.alone));
  const crowdUs = median(rounds.map((round) => round.crowd));
  const [young, old] = [await conversed(1), await conversed(LONG)];
  const ages: { young: RestoredSteps; old: RestoredSteps }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    ages.push({ young: await stepsAfter(young), old: await stepsAfter(old) });
  const youngUs = median(ages.map((round) => round.young.next));
  const oldUs = median(ages.map((round) => round.old.next));
  const firstUs = median(ages.map((round) => round.old.first));
  const stored = [await storing(1_000), await storing(10_000)];
  return {
    title: 'Machines',
    claim:
      'Ten workers act in every step, alone or among 990 that wait. Claim: a step costs the same. One leaf continues a conversation of one step or of 5,000, not counting the copy of the messages for the model, nor the first step, which belongs to the restore: it makes the messages of the whole conversation once. Claim: the same. And a tree of that many instances, each with a conversation, stored as JSON text and restored.',
    columns: ['', 'µs'],
    rows: [
      ['a step of 10 active leaves, of 11 instances', aloneUs],
      ['a step of 10 active leaves, of 1,001 instances', crowdUs],
      ['a step after 1 step of one conversation, restored', youngUs],
      ['a step after 5,000 steps of one conversation, restored', oldUs],
      ['the first step of that conversation after the restore', firstUs],
      ...stored.flatMap(({ instances, storeMs, restoreMs, bytes }) => [
        [
          `serialize ${instances.toLocaleString('en')} instances (${Math.round(bytes / 1_000).toLocaleString('en')} kB)`,
          storeMs * 1_000,
        ],
        [`restore ${instances.toLocaleString('en')} instances`, restoreMs * 1_000],
      ]),
    ],
    findings: [
      heldAtMost('A step among 1,001 instances / among 11', crowdUs / aloneUs, 1.2),
      heldAtMost('A step after 5,000 steps / after one', oldUs / youngUs, 1.2),
    ],
  };
}

async function storing(
  instances: number,
): Promise<{ instances: number; storeMs: number; restoreMs: number; bytes: number }> {
  const machine = await grow(0, instances);
  const startedAt = performance.now();
  const text = JSON.stringify(serializeMachine(machine));
  const storedAt = performance.now();
  deserializeMachine(company, JSON.parse(text));
  const restoreMs = performance.now() - storedAt;
  return { instances, storeMs: storedAt - startedAt, restoreMs, bytes: text.length };
}
