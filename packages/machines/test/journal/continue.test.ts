import { slice, tool } from '@lastcall/core';
import { type MemoryJournal, memoryJournal, scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  charter,
  continueMachine,
  createMachine,
  type Machine,
  machineFromRecords,
  node,
  runMachineToCompletion,
  serializeMachine,
  spawn,
  suspend,
} from '../../src/index.ts';

const notes = slice<readonly unknown[]>('notes', {
  initial: [],
  on: { Noted: (all, { what }: { type: 'Noted'; what: unknown }) => [...all, what] },
});
const session = () => ({ slices: [notes] });
const none = z.object({});

/** How many states were checked. Restoring a machine checks the state of each instance. */
let checked = 0;

const note = tool({
  description: 'Notes.',
  inputSchema: none,
  execute(_input, ctx) {
    ctx.session.dispatch({ type: 'Noted', what: `note ${ctx.session.read(notes).length + 1}` });
    return { notes: ctx.session.read(notes), at: new Date(0) };
  },
});
const scout = node({
  worker: true,
  instructions: 'scout',
  state: z.object({ mark: z.string().refine(() => ++checked > 0) }),
  transitions: { ask: { description: 'Asks.', handler: () => suspend('May I?') } },
});
const talker = node({ instructions: 'talker', tools: { note } });
const lead = node({
  instructions: 'lead',
  transitions: {
    send: {
      description: 'Sends scouts.',
      handler: () =>
        spawn([
          'talker',
          ...Array.from({ length: 3 }, (_, index) => ({ node: 'scout', state: { mark: `${index}` } })),
        ] as never),
    },
  },
});
const team = charter({ nodes: { lead, scout, talker } });

const model = scriptedModel(({ prompt }) => {
  const system = String(prompt[0]?.content);
  if (system.startsWith('lead')) return { toolName: 'transition_send' };
  if (system.startsWith('scout')) return { toolName: 'transition_ask' };
  return prompt.at(-1)?.role === 'tool' ? 'Noted.' : { toolName: 'note' };
});

const run = (machine: Machine, journal: MemoryJournal, input = 'Go.') =>
  runMachineToCompletion(machine, { model, journal, input, newId: counting() });

function counting(): () => string {
  return () => `id-${++ids}`;
}
let ids = 0;

/** A team whose scouts wait, restored from its records. */
async function waiting(): Promise<{ journal: MemoryJournal; machine: Machine }> {
  const journal = memoryJournal();
  await run(createMachine(team, { root: 'lead', session }), journal);
  return { journal, machine: machineFromRecords(team, journal.records, { session }) };
}

describe('a machine that the host keeps between runs', () => {
  test('[A21] is the same as its records after each run, and instances that wait are not read again', async () => {
    let { journal, machine } = await waiting();
    for (let count = 1; count <= 4; count++) {
      const before = journal.records.length;
      const { response, suspended } = await run(machine, journal, `Message ${count}.`);
      expect(response).toBe('Noted.');
      expect(suspended).toHaveLength(3);
      checked = 0;
      const continued = continueMachine(machine, journal.records.slice(before), { session });
      if (continued === undefined) throw new Error('It was not continued.');
      expect(checked).toBe(0);
      const restored = machineFromRecords(team, journal.records, { session });
      expect(checked).toBe(3);
      expect(serializeMachine(continued)).toEqual(serializeMachine(restored));
      expect(continued.history).toEqual(restored.history);
      expect(continued.suspended).toEqual(restored.suspended);
      machine = continued;
    }
    // The model is shown what was stored, and the session goes on.
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('note 4');
    const [first] = machine.suspended;
    machine.resume(first?.id ?? '', 'Yes.');
    await run(machine, journal, 'And now?');
    expect(machineFromRecords(team, journal.records, { session }).suspended.length).toBe(machine.suspended.length);
  });

  test('[A21] has the same session as the records, also after more runs than it keeps records of', async () => {
    const { journal, machine } = await waiting();
    let live: Machine | undefined = machine;
    let from = journal.records.length;
    for (let count = 0; count < 150 && live !== undefined; count++) {
      await run(live, journal);
      const written = journal.records.slice(from);
      from = journal.records.length;
      live = continueMachine(live, written, { session });
    }
    if (live === undefined) return expect.unreachable();
    const rebuilt = machineFromRecords(team, journal.records, { session });
    await run(live, journal);
    await run(rebuilt, memoryJournal());
    const stored = (of: Machine) => serializeMachine(of).threads.root?.session;
    expect(stored(live)).toEqual(stored(rebuilt));
    expect(JSON.stringify(stored(live))).toContain('note 151');
  });

  test('[A21] is not continued if the records are incomplete', async () => {
    const { journal, machine } = await waiting();
    const before = journal.records.length;
    await run(machine, journal);
    const records = journal.records.slice(before);
    // One write is missing.
    expect(continueMachine(machine, records.slice(0, -4), { session })).toBeUndefined();
    machine.enqueue('Not recorded.');
    expect(continueMachine(machine, records, { session })).toBeUndefined();
    const whole = createMachine(team, { root: 'lead', session });
    const created = memoryJournal();
    await run(whole, created);
    // The records begin with the whole machine.
    expect(continueMachine(whole, created.records, { session })).toBeUndefined();
  });
});
