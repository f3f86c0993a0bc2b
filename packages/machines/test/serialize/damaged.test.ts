import { scriptedModel, sequentialIds } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { problemOfMessages } from '../../../core/src/testing/valid-history.ts';
import { mutated } from '../../../core/test/mutate-json.ts';
import {
  describeMachine,
  deserializeMachine,
  type Machine,
  type MachineJson,
  type MachineStep,
  runMachine,
  StoredMachineError,
  serializeMachine,
} from '../../src/index.ts';
import { company, richMachines, session } from './rich-machines.ts';

/** Runs it as a host would, and gives the last step and what was wrong. */
async function runOf(machine: Machine, input?: string): Promise<{ last: MachineStep | undefined; problems: string[] }> {
  const model = scriptedModel(() => 'Done.');
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
  }
  for (const { prompt } of model.requests) {
    const problem =
      problemOfMessages(prompt) ?? (prompt.some(({ role }) => role !== 'system') ? undefined : 'nothing was said');
    if (problem !== undefined) problems.push(problem);
  }
  return { last, problems };
}

/** Uses the machine until it has answered a new message, or says whom it waits for. Gives what was wrong. */
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

const RUNS = 3_200;

test('[M27] what the fuzzed machines were before they were damaged restores and works', async () => {
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
  // Neither a reader that refuses everything nor one that takes everything.
  expect(ended.refused).toBeGreaterThan(RUNS / 4);
  expect(ended.restored).toBeGreaterThan(RUNS / 8);
}, 60_000);
