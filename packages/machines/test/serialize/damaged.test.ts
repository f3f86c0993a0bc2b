import { scriptedModel, sequentialIds } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { problemOfMessages } from '../../../core/src/testing/valid-history.ts';
import { mutated } from '../../../core/test/mutate-json.ts';
import {
  createMachine,
  describeMachine,
  deserializeMachine,
  type Machine,
  type MachineJson,
  type MachineStep,
  runMachine,
  StoredMachineError,
  serializeMachine,
} from '../../src/index.ts';
import type { Asked, Script } from '../kit.ts';
import { company, richMachines, session } from './rich-machines.ts';

const calls = [
  { toolName: 'look' },
  { toolName: 'shelve' },
  { toolName: 'updateState', input: { n: 1 } },
  { toolName: 'transition_again' },
];

/** Runs it as a host would, and returns the last step and the problems. */
async function runOf(machine: Machine, input?: string): Promise<{ last: MachineStep | undefined; problems: string[] }> {
  // Makes one call, because the things that a call needs (its session, the state) may be damaged too.
  const model = scriptedModel((({ prompt }: Asked) =>
    JSON.stringify(prompt.at(-1)).includes('Are you there?') ? calls : 'Done.') as Script);
  const problems: string[] = [];
  let last: MachineStep | undefined;
  for await (const step of runMachine(machine, {
    model,
    newId: sequentialIds(),
    maxSteps: 20,
    ...(input === undefined ? {} : { input }),
  })) {
    last = step;
    if (step.yieldReason === 'error' || step.yieldReason === 'max_steps')
      problems.push(`${step.yieldReason}: ${step.error}`);
    if (step.error !== undefined) problems.push(String(step.error));
    for (const { outcome } of step.settlements) if (outcome.text.includes('TypeError')) problems.push(outcome.text);
  }
  for (const { prompt } of model.requests) {
    const problem =
      problemOfMessages(prompt) ?? (prompt.some(({ role }) => role !== 'system') ? undefined : 'nothing was said');
    if (problem !== undefined) problems.push(problem);
  }
  return { last, problems };
}

/** Uses the machine until it has answered a new message or waits for an answer. Returns the problems. */
async function useOf(machine: Machine): Promise<readonly string[]> {
  const problems = [...(await runOf(machine)).problems];
  for (let round = 0; round < 5 && machine.suspended.length > 0; round++) {
    for (const { id, kind } of machine.suspended) machine.resume(id, kind === 'approval' ? { approve: true } : 'ok');
    problems.push(...(await runOf(machine)).problems);
  }
  const { last, problems: later } = await runOf(machine, 'Are you there?');
  problems.push(...later);
  if (last?.yieldReason !== 'end_turn' || last.response !== 'Done.')
    problems.push(`it does not answer: ${last?.yieldReason}, ${describeMachine(machine)}`);
  const asked = machine.history.flatMap((entry) => (entry.kind === 'reply' ? entry.calls : []));
  const ended = new Set(
    machine.history.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement.callId] : [])),
  );
  for (const { callId } of asked) if (!ended.has(callId)) problems.push(`call ${callId} has no end`);
  deserializeMachine(company, JSON.stringify(serializeMachine(machine)), { session });
  return problems;
}

async function problemsOf(machine: Machine): Promise<readonly unknown[]> {
  return await useOf(machine).catch((error: unknown) => [error instanceof Error ? error.stack : error]);
}

const RUNS = 1_200;

test('[M27] the machines of the fuzz test restore and work before they are damaged', async () => {
  for (const [name, json] of Object.entries(await richMachines()))
    expect(await problemsOf(deserializeMachine(company, json, { session })), name).toEqual([]);
});

test(`[M27] ${RUNS} damaged machines either work or are refused with a StoredMachineError and a path`, async () => {
  const rich = Object.entries(await richMachines());
  const ended = { refused: 0, restored: 0 };
  for (let seed = 1; seed <= RUNS; seed++) {
    const [name, stored] = rich[seed % rich.length] as (typeof rich)[number];
    const { json, faults } = mutated<MachineJson>(stored, seed);
    const what = `${name}, ${faults}`;
    let machine: Machine;
    try {
      machine = deserializeMachine(company, JSON.stringify(json), { session });
    } catch (error) {
      expect(error, what).toBeInstanceOf(StoredMachineError);
      expect((error as StoredMachineError).path, what).toMatch(/^(machine|version|tree|threads|log|told)/);
      ended.refused++;
      continue;
    }
    expect(await problemsOf(machine), what).toEqual([]);
    ended.restored++;
  }
  // Fails for a reader that refuses everything, and for one that accepts everything.
  expect(ended.refused).toBeGreaterThan(RUNS / 4);
  expect(ended.restored).toBeGreaterThan(RUNS / 8);
});

describe('[M27] a stored machine is refused with the path of the error:', () => {
  // Any JSON value.
  type Change = (json: ReturnType<typeof JSON.parse>) => unknown;
  const wait = (callId: string) => ({ callId, toolName: 'pay', kind: 'approval', input: {}, reason: null });
  const cases: Record<string, [name: string, path: string, change: Change]> = {
    'a wait for a call that nobody made': [
      'below',
      'tree.root.children[0].waits[3].callId',
      ({ tree }) => tree.root.children[0].waits.push(wait('nobody')),
    ],
    'a call that is waited for twice': [
      'below',
      'tree.root.children[0].waits[1].callId',
      ({ tree }) => tree.root.waits.push(tree.root.children[0].waits[1]),
    ],
    'a call that waits and that nobody waits for': [
      'staffed',
      'threads.root.1.transcript',
      ({ tree }) => tree.root.children[0].waits.pop(),
    ],
    'an answer that is none': [
      'staffed',
      'tree.root.children[1].waits[0].answer',
      ({ tree }) => Object.assign(tree.root.children[1].waits[0], { answer: {} }),
    ],
    'an answer of another kind': [
      'moved',
      'tree.root.waits[1].answer',
      ({ tree }) => Object.assign(tree.root.waits[1], { answer: { result: 1 } }),
    ],
    'a session of another version': [
      'talked',
      'threads.root.session',
      ({ threads }) => Object.assign(threads.root.session, { version: 2 }),
    ],
    "a session's own state": [
      'talked',
      'threads.root.session',
      ({ threads }) => Object.assign(threads.root.session.slices['lastcall.succeeded'], { state: null }),
    ],
    'a call of somebody who is gone': ['staffed', 'threads.root.2.transcript', ({ tree }) => tree.root.children.pop()],
    'a conversation of somebody who is still to be born': [
      'allowed',
      'threads.root.1',
      ({ threads }) => Object.assign(threads, { 'root.1': { transcript: { version: 1, entries: [] }, logged: 0 } }),
    ],
    'a root that has ceded': [
      'talked',
      'tree.root.phase.kind',
      ({ tree }) => Object.assign(tree.root, { phase: { kind: 'ceded', content: null } }),
    ],
    'a parent that is idle': [
      'staffed',
      'tree.root.phase.kind',
      ({ tree }) => Object.assign(tree.root.phase, { kind: 'idle' }),
    ],
    'a log that leaves something out': ['talked', 'log[0].said.from', ({ log }) => log.splice(0, 1)],
    'a change of the tree that is none': [
      'staffed',
      'log[0].happened.kind',
      ({ log }) => log.unshift({ happened: { kind: 'x', instanceId: 'root', node: 'main' } }),
    ],
    'an entry of a transcript': [
      'talked',
      'threads.root.transcript.entries[3].settlement.outcome.status',
      ({ threads }) => Object.assign(threads.root.transcript.entries[3].settlement.outcome, { status: 'x' }),
    ],
    'a call that has ended twice': [
      'talked',
      'threads.root.transcript.entries[4].settlement.callId',
      ({ threads }) => threads.root.transcript.entries.splice(4, 0, threads.root.transcript.entries[3]),
    ],
  };
  for (const [what, [name, path, change]] of Object.entries(cases)) {
    test(`${what} (${path})`, async () => {
      const json = structuredClone((await richMachines())[name]);
      change(json as never);
      expect(() => deserializeMachine(company, json as never, { session })).toThrow(
        expect.objectContaining({ name: 'StoredMachineError', path }),
      );
    });
  }
});

test('[M27] a tree may be restored as deep as it may be spawned, and no deeper', () => {
  const deep = (levels: number): unknown => {
    const json = JSON.parse(JSON.stringify(serializeMachine(createMachine(company, { root: 'talker' }))));
    let at = json.tree.root;
    for (let level = 2; level <= levels; level++) {
      const child = { ...at, id: `${at.id}.1`, born: 0, children: [] };
      Object.assign(at, { born: 1, phase: { kind: 'ready' }, children: [child] });
      at = child;
    }
    return json;
  };
  const machine = deserializeMachine(company, deep(100) as never);
  expect(JSON.stringify(serializeMachine(machine))).toContain('root.1.1.1');
  for (const levels of [101, 5_000])
    expect(() => deserializeMachine(company, deep(levels) as never)).toThrow(
      expect.objectContaining({ name: 'StoredMachineError', path: `tree.root${'.children[0]'.repeat(100)}` }),
    );
});

test('[M27] a leaf that is suspended but waits for nothing is asked again, and does not repeat its last reply', async () => {
  const machine = createMachine(company, { root: 'talker' });
  for await (const _ of runMachine(machine, { model: scriptedModel(['First.']), input: 'Go.' }));
  const json = JSON.parse(JSON.stringify(serializeMachine(machine)));
  json.tree.root.phase = { kind: 'suspended' };
  const { last, problems } = await runOf(deserializeMachine(company, json));
  expect([last?.response, problems]).toEqual(['Done.', []]);
});

test('[M27] an instance that is ready before any message still gets a valid request', async () => {
  const json = JSON.parse(JSON.stringify(serializeMachine(createMachine(company, { root: 'talker' }))));
  json.tree.root.phase = { kind: 'ready' };
  const { last, problems } = await runOf(deserializeMachine(company, json));
  expect([last?.response, problems]).toEqual(['Done.', []]);
});

test('[M27] a value that is not JSON is refused as a stored machine, whatever is in it', async () => {
  const { talked } = await richMachines();
  const loop: Record<string, unknown> = { ...talked?.tree.root };
  loop.children = [loop];
  const thrower = {
    get tree(): never {
      throw Object.create(null);
    },
    version: 1,
  };
  const hostile: unknown[] = [
    thrower,
    { ...talked, version: 1n },
    { ...talked, tree: { ...talked?.tree, root: loop } },
    { ...talked, tree: { ...talked?.tree, root: { ...talked?.tree.root, born: loop } } },
    { ...talked, threads: new Map() },
    { ...talked, log: [{ happened: { kind: 'moved', instanceId: 'root', node: 'main', to: () => 1 } }] },
    {
      ...talked,
      threads: {
        root: { ...talked?.threads.root, session: { version: 1, slices: { seen: { version: 1, state: () => 1 } } } },
      },
    },
  ];
  for (const json of hostile)
    expect(() => deserializeMachine(company, json as never, { session })).toThrow(StoredMachineError);
});
