import { type Entry, tool } from '@lastcall/core';
import { scriptedModel, sequentialIds } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { countReads } from '../../../core/test/count-reads.ts';
import {
  cede,
  charter,
  createMachine,
  deserializeMachine,
  type Machine,
  node,
  runMachine,
  serializeMachine,
  spawn,
  suspend,
} from '../../src/index.ts';
import { LiveMachine } from '../../src/run/live-machine.ts';
import type { Script } from '../kit.ts';

const look = tool({ description: 'L.', inputSchema: z.object({}), execute: () => 'seen' });
const transitions = {
  hire: { description: 'H.', handler: () => spawn('hand') },
  talk: { description: 'T.', handler: () => spawn('talker') },
  done: { description: 'D.', handler: () => cede('done') },
  ask: { description: 'A.', handler: () => suspend('well?') },
};
const staff = charter({
  nodes: {
    main: node({ instructions: 'main', tools: { look }, transitions }),
    hand: node({ instructions: 'hand', worker: true, tools: { look }, transitions }),
    talker: node({ instructions: 'talker', tools: { look }, transitions }),
  },
});
const newId = sequentialIds();

/** The model is new for each step, because a scripted model keeps its requests. */
async function steps(machine: Machine, count: number, script: Script, input?: string): Promise<void> {
  const options = { maxSteps: count, newId, model: () => scriptedModel(script) };
  for await (const _ of runMachine(machine, input === undefined ? options : { ...options, input }));
}

const calls = (toolName: string) => ({ toolName });
const looking: Script = () => calls('look');

/** A machine that has made this many steps, all in one conversation. */
async function after(count: number): Promise<Machine> {
  const machine = createMachine(staff, { root: 'main' });
  await steps(machine, count, looking, 'Go.');
  return machine;
}

function entriesOf(machine: Machine): readonly Entry[] {
  return LiveMachine.of(machine).threads.get('root')?.transcript.entries ?? [];
}

const restored = (machine: Machine): Machine =>
  deserializeMachine(staff, JSON.parse(JSON.stringify(serializeMachine(machine))));

/** What happens next. The test counts how many of the earlier entries it reads. */
const next: Record<string, (machine: Machine) => Promise<unknown>> = {
  'a call': (machine) => steps(machine, 1, looking),
  'an answer and another message': async (machine) => {
    await steps(machine, 2, () => 'Ok.');
    await steps(machine, 2, () => 'Ok.', 'And?');
  },
  'a worker that comes and goes': async (machine) => {
    await steps(machine, 1, () => calls('transition_hire'));
    await steps(machine, 1, () => calls('transition_done'));
    await steps(machine, 1, looking);
  },
  'another that talks, waits, is answered and goes': async (machine) => {
    await steps(machine, 1, () => calls('transition_talk'));
    await steps(machine, 1, () => calls('transition_ask'));
    machine.resume(machine.suspended[0]?.id ?? '', 'yes');
    await steps(machine, 1, looking);
    await steps(machine, 1, () => calls('transition_done'));
  },
};

describe('[M28] after 5,000 steps of one conversation', async () => {
  const [few, many] = [await after(10), await after(5_000)];
  const stored = [few, many].map(serializeMachine);
  const [short, long] = stored.map((json) => () => deserializeMachine(staff, json)) as [() => Machine, () => Machine];

  for (const [what, act] of Object.entries(next)) {
    const readsOf = async (machine: Machine): Promise<number> => {
      const reads = countReads(entriesOf(machine));
      await act(machine);
      return reads.count;
    };
    test(`${what} reads no more earlier entries than after ten, if restored`, async () => {
      const first = await readsOf(short());
      expect(await readsOf(long())).toBe(first);
      expect(first).toBeLessThan(8);
    });
  }

  test('a step of the machine itself reads no more earlier entries than after ten', async () => {
    const counts: number[] = [];
    for (const machine of [few, many]) {
      const reads = countReads(entriesOf(machine));
      await steps(machine, 1, looking);
      counts.push(reads.count);
    }
    expect(counts[1]).toBe(counts[0]);
    expect(restored(few).tree).toEqual(few.tree);
  });
});
