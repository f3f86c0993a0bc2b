import { getEventListeners } from 'node:events';
import {
  type Entry,
  type Journal,
  type JournalRecord,
  JournalStalled,
  pending,
  slice,
  Transcript,
  tool,
} from '@lastcall/core';
import { crashingJournal, fakeClock, memoryJournal, scriptedModel, sequentialIds } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Charter,
  cede,
  charter,
  compactMachine,
  createMachine,
  deserializeMachine,
  listCommands,
  type Machine,
  MachineError,
  type MachineJson,
  machineFromRecords,
  node,
  type RunMachineOptions,
  recordMachine,
  runMachine,
  runMachineToCompletion,
  StoredMachineError,
  serializeMachine,
  spawn,
  suspend,
  to,
} from '../../src/index.ts';
import { outcomes, type Script, systemOf, texts } from '../kit.ts';
import { stored } from './stored.ts';

const none = z.object({});
const counting = z.object({ n: z.number() });
const seen = slice('seen', { initial: 0, on: { looked: (count: number) => count + 1 } });
const look = tool({
  description: 'Looks.',
  inputSchema: none,
  effects: 'session',
  execute: (_input, { session }) => {
    session.dispatch({ type: 'looked' });
    return session.read(seen);
  },
});
const ask = { description: 'Asks.', handler: () => suspend('may I?') };
const done = { description: 'Done.', handler: () => cede('worked') };
const hand = node({ instructions: 'hand', worker: true, tools: { look }, transitions: { done, ask } });
const gone = node({ instructions: 'gone', state: counting });
const clerk = node({ instructions: 'clerk', tools: { look } });
const job = tool({ description: 'J.', inputSchema: none, effects: 'session', execute: () => pending() });
const boss = node({
  instructions: 'boss',
  state: counting,
  initialState: { n: 0 },
  tools: { look, job },
  transitions: {
    ask,
    hire: { description: 'H.', handler: () => spawn(hand) },
    leave: { description: 'L.', handler: () => to('gone', { n: 1 }) },
  },
  commands: {
    add: {
      inputSchema: z.object({ by: z.number() }),
      execute: ({ by }: { by: number }, ctx) => {
        ctx.updateState({ n: ctx.state.n + by });
        return ctx.state.n;
      },
    },
    alone: { execute: () => to('boss') },
  },
});
const office = charter({ nodes: { boss, hand, gone } });
const session = () => ({ slices: [seen] });
const make = (): Machine => createMachine(office, { root: 'boss', session });
const restored = (records: readonly JournalRecord[], made: Charter = office): Machine =>
  machineFromRecords(made, records, { session });
const take = (name: string) => ({ toolName: `transition_${name}` });

async function go(machine: Machine, script: Script, options: Partial<RunMachineOptions> = {}) {
  return await runMachineToCompletion(machine, { model: scriptedModel(script), newId: sequentialIds(), ...options });
}

const kinds = ({ records }: { records: readonly JournalRecord[] }) =>
  records.map(({ entry }) => {
    const {
      kind,
      change,
      also = [],
    } = entry as unknown as {
      kind: string;
      change?: { kind: string };
      also?: readonly { kind: string }[];
    };
    const one = change === undefined ? kind : `machine ${change.kind}`;
    return [one, ...also.map((more) => more.kind)].join(' + ');
  });

describe('the records of a run', () => {
  test('[A16] begin with the machine, and the input is part of the first write', async () => {
    const journal = memoryJournal();
    await go(make(), ['Hello.'], { input: 'Hi.', journal });
    expect(kinds(journal)).toEqual([
      'machine created',
      'message + delivered',
      'reply',
      'stop + concluded + phased + reported',
    ]);
    expect(journal.records[2]?.entry).toMatchObject({ kind: 'reply', begins: true });
  });

  test('[A16] have the start of a turn in its first entry, or as an entry if the turn has no other', async () => {
    const journal = memoryJournal();
    const machine = make();
    const failed = await go(machine, [new Error('No.')], { input: 'Hi.', journal, modelRetries: 0 });
    expect(failed.yieldReason).toBe('error');
    expect(kinds(journal).slice(2)).toEqual(['turn + concluded + reported']);
    expect(stored(restored(journal.records))).toEqual(stored(machine));
    await go(machine, [{ toolName: 'look' }, 'Hello.'], { journal });
    const begun = journal.records.flatMap(({ entry }) => ('begins' in entry ? [entry.kind] : []));
    // The first reply continues the turn that failed.
    expect(begun).toEqual(['reply']);
    expect(stored(restored(journal.records))).toEqual(stored(machine));
  });

  test('[A16] name the conversation, the instance and its node', async () => {
    const journal = memoryJournal();
    await go(make(), (request) => (JSON.stringify(request).includes('hand') ? 'Did it.' : take('hire')), {
      input: 'Go.',
      journal,
      maxSteps: 2,
    });
    const replies = journal.records.filter(({ entry }) => entry.kind === 'reply');
    expect(replies.map(({ entry }) => entry)).toMatchObject([
      { thread: 'root', instanceId: 'root', node: 'boss' },
      { thread: 'root.1', instanceId: 'root.1', node: 'hand' },
    ]);
  });

  test("[A16] have a call's change of the tree in the same record as its end, and nothing of its view of the tree", async () => {
    const journal = memoryJournal();
    await go(make(), [[{ toolName: 'updateState', input: { n: 3 } }, take('leave')], 'Bye.'], {
      input: 'Go.',
      journal,
    });
    const ends = journal.records.filter(({ entry }) => entry.kind === 'settled');
    expect(ends.map(({ staged }) => (staged as { machine?: unknown }).machine)).toMatchObject([
      [{ kind: 'machine', change: { kind: 'patched', set: { n: 3 } } }],
      [{ kind: 'machine', change: { kind: 'moved', id: 'root', node: 'gone' } }],
    ]);
    expect(JSON.stringify(ends)).not.toContain('lastcall.machine');
  });

  test('[A21] of a step are the same among 1,000 idle instances as among 10, and only the session that acts is opened', async () => {
    const sizes: number[] = [];
    for (const crowd of [10, 1_000]) {
      const kept = memoryJournal();
      const script: Script = (request) => {
        if (systemOf(request).startsWith('hand')) return take('ask');
        return systemOf(request).startsWith('boss') ? take('crowd') : 'Hm?';
      };
      const hire = {
        crowd: { description: 'C.', handler: () => spawn([...Array.from({ length: crowd }, () => hand), clerk]) },
      };
      const made = charter({ nodes: { boss: node({ instructions: 'boss', transitions: hire }), hand, clerk } });
      await go(createMachine(made, { root: 'boss' }), script, { input: 'Go.', journal: kept });
      let opened = 0;
      const machine = machineFromRecords(made, kept.records, { session: () => (opened++, session()) });
      expect(machine.suspended).toHaveLength(crowd);
      const journal = memoryJournal();
      await go(machine, [{ toolName: 'look' }, 'Done.'], { input: 'And?', journal });
      expect(opened).toBe(1);
      expect(stored(machineFromRecords(made, [...kept.records, ...journal.records]))).toEqual(stored(machine));
      sizes.push(JSON.stringify(journal.records).replaceAll(`root.${crowd + 1}`, 'root.n').length);
    }
    expect(sizes[1]).toBe(sizes[0]);
  });

  test('[A16] have the ends of parallel calls in the order in which they ended', async () => {
    const order: string[] = [];
    const kept = memoryJournal();
    const settle: Journal['settle'] = (entry, staged) => {
      order.push(entry.settlement.toolName);
      return Promise.resolve().then(() => kept.settle(entry, staged));
    };
    const read = { description: 'R.', inputSchema: none, effects: 'none' as const };
    const tools = {
      wait: tool({ ...read, execute: () => pending() }),
      peek: tool({ ...read, execute: () => 'peeked' }),
    };
    const made = charter({ nodes: { only: node({ instructions: 'only', tools }) } });
    const machine = createMachine(made, { root: 'only' });
    const batch = [{ toolName: 'wait' }, { toolName: 'peek' }, { toolName: 'wait' }, { toolName: 'peek' }];
    await go(machine, [batch], { input: 'Go.', journal: { ...kept, settle } });
    expect(order).toEqual(['wait', 'peek', 'wait', 'peek']);
    expect(stored(machineFromRecords(made, kept.records))).toEqual(stored(machine));
  });

  test('[A16] are the same whether the machine was rebuilt in between or not', async () => {
    const script = [[{ toolName: 'look' }, take('ask')], [{ toolName: 'look' }], 'Ok.'];
    const texts = await Promise.all(
      [false, true].map(async (isRebuilt) => {
        const journal = memoryJournal();
        const clock = fakeClock();
        let machine = make();
        const newId = sequentialIds();
        const options = { journal, clock, newId, modelSettings: {} };
        await go(machine, script.slice(0, 1), { ...options, input: 'Go.' });
        if (isRebuilt) machine = restored(journal.records);
        machine.resume(machine.suspended[0]?.id ?? '', 'yes');
        await go(machine, script.slice(1), options);
        return JSON.stringify(journal.records);
      }),
    );
    expect(texts[1]).toBe(texts[0]);
  });
});

describe('a machine restored from its records', () => {
  test('[A16] has the sessions of its conversations, created when they are needed', async () => {
    const journal = memoryJournal();
    await go(make(), [{ toolName: 'look' }, { toolName: 'look' }, 'Ok.'], { input: 'Go.', journal });
    let opened = 0;
    const machine = machineFromRecords(office, journal.records, { session: () => (opened++, session()) });
    expect(opened).toBe(0);
    const { steps } = await go(machine, [{ toolName: 'look' }, 'Ok.'], { input: 'Again.', journal });
    expect(outcomes(steps)).toEqual([['look', 'ok', '3']]);
  });

  test('[A16] keeps a slice that its options do not name', async () => {
    const journal = memoryJournal();
    await go(make(), [{ toolName: 'look' }, 'Ok.'], { input: 'Go.', journal });
    const bare = machineFromRecords(office, journal.records);
    const json = JSON.parse(JSON.stringify(serializeMachine(bare))) as MachineJson;
    const again = machineFromRecords(office, [], { from: json, session });
    const { steps } = await go(again, [{ toolName: 'look' }, 'Ok.'], { input: 'Again.' });
    expect(outcomes(steps)).toEqual([['look', 'ok', '2']]);
  });

  test('[A16] keeps the state of its sessions: steps do not reset it', async () => {
    const ofRun = slice('ofRun', { initial: 0, on: { looked: (count: number) => count + 1, RunStarted: () => 0 } });
    const counted = tool({
      description: 'C.',
      inputSchema: none,
      effects: 'session',
      execute: (_input, ctx) => {
        ctx.session.dispatch({ type: 'looked' });
        return ctx.session.read(ofRun);
      },
    });
    const made = charter({ nodes: { only: node({ instructions: 'only', tools: { counted } }) } });
    const options = { session: () => ({ slices: [ofRun] }) };
    const journal = memoryJournal();
    let machine = createMachine(made, { root: 'only', ...options });
    const seenIn: string[] = [];
    for (let run = 0; run < 3; run++) {
      const { steps } = await go(machine, [{ toolName: 'counted' }, 'Ok.'], { input: 'Go.', journal });
      seenIn.push(...outcomes(steps).map(([, , text = '']) => text));
      machine = machineFromRecords(made, journal.records, options);
    }
    expect(seenIn).toEqual(['1', '2', '3']);
  });

  test('[A20] with a session of another version fails the run, and its worker is not removed', async () => {
    const journal = memoryJournal();
    const script: Script = (request) =>
      systemOf(request).startsWith('hand') ? [{ toolName: 'look' }, take('ask')] : take('hire');
    await go(make(), script, { input: 'Go.', journal });
    const newer = slice('seen', { version: 2, initial: 0, on: { looked: (count: number) => count + 1 } });
    const machine = machineFromRecords(office, journal.records, { session: () => ({ slices: [newer] }) });
    machine.resume(machine.suspended[0]?.id ?? '', 'yes');
    const { yieldReason, error } = await go(machine, ['Ok.'], { journal });
    expect([yieldReason, String(error)]).toEqual(['error', expect.stringContaining('"seen"')]);
    expect(machine.instance('root.1')?.phase.kind).toBe('suspended');
    // With the right version it continues.
    const { steps } = await go(restored(journal.records), ['Did it.', 'Good.'], { journal });
    expect(steps.at(-1)?.response).toBe('Good.');
  });

  test('[A16] goes on from a stored machine and the records after it', async () => {
    const journal = memoryJournal();
    const machine = make();
    await go(machine, [{ toolName: 'look' }, 'Ok.'], { input: 'One.', journal });
    const from = JSON.stringify(serializeMachine(machine));
    const { length } = journal.records;
    await go(machine, [{ toolName: 'look' }, take('ask')], { input: 'Two.', journal });
    const rebuilt = machineFromRecords(office, journal.records.slice(length), { from, session });
    expect(stored(rebuilt)).toEqual(stored(machine));
    expect(rebuilt.suspended).toMatchObject([{ toolName: 'transition_ask', reason: 'may I?' }]);
  });

  test('[A16] a machine restored from JSON is written as a whole once, with its original state', async () => {
    const machine = make();
    await go(machine, [take('ask')], { input: 'Go.' });
    const moved = deserializeMachine(office, serializeMachine(machine), { session });
    moved.resume(moved.suspended[0]?.id ?? '', 'yes');
    const journal = memoryJournal();
    await go(moved, ['Good.'], { journal });
    expect(kinds(journal).filter((kind) => kind === 'machine created')).toHaveLength(1);
    expect(stored(restored(journal.records))).toEqual(stored(moved));
  });

  test('[A16] a run without a journal in between is not lost: the next one with a journal writes the machine again', async () => {
    const journal = memoryJournal();
    const machine = make();
    await go(machine, ['One.'], { input: '1', journal });
    await go(machine, ['Two.'], { input: '2' });
    await go(machine, ['Three.'], { input: '3', journal });
    const rebuilt = restored(journal.records);
    expect(stored(rebuilt)).toEqual(stored(machine));
    const said = rebuilt.history.flatMap((entry) => (entry.kind === 'reply' ? [entry.text] : []));
    expect(said).toEqual(['One.', 'Two.', 'Three.']);
  });

  test('[A16] can be stored again after a command removed the child whose turn was interrupted', async () => {
    const both = { both: { description: 'B.', handler: () => spawn(['hand', 'talker']) } };
    const talker = node({ instructions: 'talker', commands: { leave: { execute: () => cede('left') } } });
    const made = charter({ nodes: { head: node({ instructions: 'head', transitions: both }), talker, hand } });
    const kept = memoryJournal();
    let isOver = false;
    const append: Journal['append'] = (entries) => {
      if (isOver) throw new Error('The process is over.');
      isOver = entries.some((entry) => entry.kind === 'reply' && entry.text === 'Yes.');
      return kept.append(entries);
    };
    const script: Script = (request) => {
      if (systemOf(request).startsWith('head')) return take('both');
      return systemOf(request).startsWith('hand') ? take('ask') : 'Yes.';
    };
    const first = createMachine(made, { root: 'head' });
    await go(first, script, { input: 'Go.', journal: { ...kept, append } });
    const machine = machineFromRecords(made, kept.records);
    await machine.command('leave');
    await go(machine, script, { journal: kept, maxSteps: 1 });
    expect(machine.tree.root).toMatchObject({ phase: { kind: 'ready' }, children: [{ node: 'hand' }] });
    expect(stored(machineFromRecords(made, kept.records))).toEqual(stored(machine));
  });

  test('[A16] ends the calls of an interrupted step, also if a command has added a message since', async () => {
    const both = { both: { description: 'B.', handler: () => spawn(['hand', 'talker']) } };
    const talker = node({ instructions: 'talker', commands: { leave: { execute: () => cede('left') } } });
    const head = node({
      instructions: 'head',
      transitions: { ...both, again: { description: 'A.', handler: () => to('head') } },
    });
    const made = charter({ nodes: { head, talker, hand } });
    const journal = crashingJournal(3, { when: 'after' });
    const script: Script = (request) =>
      systemOf(request).startsWith('head') ? [take('both'), take('again')] : take('ask');
    await go(createMachine(made, { root: 'head' }), script, { input: 'Go.', journal });
    const first = machineFromRecords(made, journal.kept.records);
    await first.command('leave', {}, { journal: journal.kept });
    const machine = machineFromRecords(made, journal.kept.records);
    const { steps } = await go(machine, script, { journal: journal.kept, maxSteps: 1 });
    expect(outcomes(steps).map(([name, status]) => `${name} ${status}`)).toEqual([
      'transition_both ok',
      'transition_again error',
    ]);
  });

  test('[A16] rebuilding costs a constant amount for each record', async () => {
    const journal = memoryJournal();
    await go(make(), ['Yes.'], { input: 'Hm?', journal });
    const [first, ...run] = journal.records as [JournalRecord, ...JournalRecord[]];
    // Processor time, because other programs may have the machine meanwhile. Both read the same number of records.
    const timed = (runs: number): number => {
      const records = [first, ...Array.from({ length: runs }, () => run).flat()];
      const times = Array.from({ length: 3 }, () => {
        const before = process.cpuUsage();
        for (let done = 0; done < 4_000; done += runs) restored(records);
        const { user, system } = process.cpuUsage(before);
        return user + system;
      });
      return Math.min(...times);
    };
    timed(200);
    // Forty times as many records: linear is 1, quadratic would be 40.
    expect(timed(4_000) / timed(100)).toBeLessThan(15);
  });
});

describe('a compacted machine', () => {
  test('[A21] has shorter conversations, none of removed workers, and goes on with the records after it', async () => {
    const machine = make();
    const script: Script = (request) => {
      if (systemOf(request).startsWith('hand')) return 'Did it.';
      return JSON.stringify(request.prompt).includes('has finished') ? 'Good.' : [{ toolName: 'look' }, take('hire')];
    };
    await go(machine, script, { input: 'Go.' });
    expect(Object.keys(serializeMachine(machine).threads)).toEqual(['root', 'root.1']);
    const short = new Transcript([
      { kind: 'message', message: { role: 'user', content: [{ type: 'text', text: 'So far.' }] } },
    ]);
    const from = compactMachine(serializeMachine(machine), { root: short.toJSON() });
    expect(Object.keys(from.threads)).toEqual(['root']);
    const next = machineFromRecords(office, [], { from: JSON.stringify(from), session });
    const journal = memoryJournal();
    const model = scriptedModel([{ toolName: 'look' }, 'Ok.']);
    const { steps } = await runMachineToCompletion(next, { model, input: 'And?', journal });
    expect(outcomes(steps)).toEqual([['look', 'ok', '2']]);
    expect(texts(model.requests[0]).slice(1)).toEqual(['user: So far.', 'user: And?']);
    expect(stored(machineFromRecords(office, journal.records, { from, session }))).toEqual(stored(next));
    expect(next.history.map(({ kind }) => kind).slice(0, 2)).toEqual(['message', 'message']);
  });

  test('[A21] a conversation that is unknown, or in the middle of a step, is not replaced', async () => {
    const journal = crashingJournal(4);
    const machine = make();
    await go(machine, [{ toolName: 'look' }], { input: 'Go.', journal });
    const json = serializeMachine(machine);
    expect(() => compactMachine(json, { 'root.7': new Transcript().toJSON() })).toThrow('no conversation "root.7"');
    expect(() => compactMachine(json, { root: new Transcript().toJSON() })).toThrow('in the middle of a step');
    expect(stored(machineFromRecords(office, [], { from: compactMachine(json), session }))).toEqual(
      stored(deserializeMachine(office, compactMachine(json), { session })),
    );
  });
});

describe('messages, answers and commands outside a run', () => {
  test('[A16] are part of the first write of the next run', async () => {
    const journal = crashingJournal(Number.POSITIVE_INFINITY);
    const machine = make();
    await go(machine, [take('ask')], { input: 'Go.', journal });
    const before = journal.writes.length;
    machine.resume(machine.suspended[0]?.id ?? '', 'yes');
    await machine.command('add', { by: 2 });
    await go(machine, ['Good.'], { journal });
    expect(journal.writes[before]).toBe('machine, machine, machine, machine');
    const rebuilt = restored(journal.kept.records);
    expect(rebuilt.tree.root.state).toEqual({ n: 2 });
    expect(stored(rebuilt)).toEqual(stored(machine));
  });

  test('[A16] are durable before the next run with recordMachine()', async () => {
    const journal = memoryJournal();
    const machine = make();
    await recordMachine(machine, journal);
    machine.enqueue('Hello?');
    expect(restored(journal.records).tree.queue).toEqual([]);
    await recordMachine(machine, journal);
    await recordMachine(machine, journal);
    expect(kinds(journal)).toEqual(['machine created', 'machine queued']);
    const rebuilt = restored(journal.records);
    const { response } = await go(rebuilt, ['Hi.'], { journal });
    expect(response).toBe('Hi.');
    expect(stored(restored(journal.records))).toEqual(stored(rebuilt));
  });

  test('[A19] a command is recorded with its key before it counts, and not at all if the journal refuses it', async () => {
    const machine = make();
    const kept = memoryJournal();
    await recordMachine(machine, kept);
    const keys = new Set<unknown>();
    const journal: Journal = {
      ...kept,
      append: (entries) => {
        for (const { idempotencyKey: key } of entries.map(
          (entry) => (entry as { change?: { idempotencyKey?: unknown } }).change ?? {},
        )) {
          if (keys.has(key)) throw new Error('This command was given before.');
          if (key !== undefined) keys.add(key);
        }
        return kept.append(entries);
      },
    };
    const options = { journal, idempotencyKey: 'k1' };
    expect(await machine.command('add', { by: 5 }, options)).toBe(5);
    await expect(machine.command('add', { by: 5 }, options)).rejects.toThrow('given before');
    const changes = kept.records.map(({ entry }) => (entry as { change?: object }).change);
    expect(changes.at(-1)).toMatchObject({ kind: 'command', idempotencyKey: 'k1', output: 5 });
    expect(machine.tree.root.state).toEqual({ n: 5 });
    expect(restored(kept.records).tree.root.state).toEqual({ n: 5 });
    expect(machine.history.at(-1)).toEqual({
      kind: 'command',
      instanceId: 'root',
      node: 'boss',
      name: 'add',
      input: { by: 5 },
    });
  });

  test('[A19] the commands that can be given now are listed, with their instance and their input', () => {
    expect(listCommands(make())).toMatchObject([
      { name: 'add', instanceId: 'root', node: 'boss', inputSchema: { properties: { by: { type: 'number' } } } },
      { name: 'alone', instanceId: 'root', node: 'boss' },
    ]);
  });

  test('[A19] a command that the journal refuses in the middle of a run does not stop the run', async () => {
    const kept = memoryJournal();
    const isCommand = (entry: Entry) => (entry as { change?: { kind: string } }).change?.kind === 'command';
    const append: Journal['append'] = (entries) => {
      if (entries.some(isCommand)) throw new Error('Not this one.');
      return kept.append(entries);
    };
    const machine = make();
    let refused: unknown;
    const script: Script = async () => {
      refused = await machine.command('add', { by: 1 }).catch((error: unknown) => error);
      return 'Ok.';
    };
    const { response } = await go(machine, script, { input: 'Go.', journal: { ...kept, append } });
    expect([response, refused, machine.tree.root.state]).toEqual(['Ok.', new Error('Not this one.'), { n: 0 }]);
  });

  test('[A19] a command that removes a worker is one write, with the ends of its calls', async () => {
    const journal = crashingJournal(Number.POSITIVE_INFINITY);
    const machine = make();
    const script: Script = (request) =>
      JSON.stringify(request.prompt[0]).includes('hand') ? take('ask') : take('hire');
    await go(machine, script, { input: 'Go.', journal });
    const before = journal.writes.length;
    await machine.command('alone', {}, { journal });
    expect(journal.writes.slice(before)).toEqual(['machine, settled transition_ask, machine']);
    expect(stored(restored(journal.kept.records))).toEqual(stored(machine));
  });

  test('[A16] an answer that is given between two steps is recorded before it is used', async () => {
    const journal = memoryJournal();
    const machine = make();
    const script: Script = (request) => {
      const text = JSON.stringify(request.prompt);
      if (systemOf(request).startsWith('hand')) return text.includes('you may') ? 'Did it.' : take('ask');
      return text.includes('has finished') ? 'Good.' : take('hire');
    };
    const options = { model: scriptedModel(script), newId: sequentialIds(), journal, input: 'Go.' };
    for await (const step of runMachine(machine, options))
      if (step.yieldReason === 'suspend') machine.resume(step.suspended[0]?.id ?? '', 'you may');
    expect(kinds(journal).filter((kind) => kind.includes('answered') || kind === 'settled')).toEqual([
      'settled',
      'machine answered',
      'settled',
    ]);
    expect(stored(restored(journal.records))).toEqual(stored(machine));
  });

  test('[A16] a message that comes while a step runs is recorded before the next step', async () => {
    const journal = memoryJournal();
    const machine = make();
    const script: Script = (request) => {
      if (JSON.stringify(request).includes('Hurry')) return 'I hurry.';
      machine.enqueue('Hurry!');
      return { toolName: 'look' };
    };
    const { response } = await go(machine, script, { input: 'Go.', journal });
    expect(response).toBe('I hurry.');
    expect(stored(restored(journal.records))).toEqual(stored(machine));
  });

  test('[A16] a message that comes while the journal writes is recorded with the next write', async () => {
    const kept = memoryJournal();
    const machine = make();
    let isSaid = false;
    const append: Journal['append'] = async (entries) => {
      if (entries.some(({ kind }) => kind === 'stop') && !isSaid) {
        isSaid = true;
        machine.enqueue('Hurry!');
      }
      await kept.append(entries);
    };
    const { steps } = await go(machine, ['Slowly.', 'I hurry.'], { input: 'Go.', journal: { ...kept, append } });
    expect(steps.flatMap(({ response }) => response ?? [])).toEqual(['Slowly.', 'I hurry.']);
    expect(kinds(kept).slice(4, 6)).toEqual(['machine queued', 'message + delivered']);
    expect(stored(restored(kept.records))).toEqual(stored(machine));
  });

  test('[A19] a command with a journal and a signal leaves no listener on the signal', async () => {
    const kept = memoryJournal();
    const append: Journal['append'] = async (entries) => kept.append(entries);
    const { signal } = new AbortController();
    await make().command('add', { by: 1 }, { journal: { ...kept, append }, signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('a journal that refuses', () => {
  test('[A16] stops the run with its error, and the machine is as its records say', async () => {
    const journal = crashingJournal(4);
    const machine = make();
    const { yieldReason, error } = await go(machine, [{ toolName: 'look' }, 'Ok.'], { input: 'Go.', journal });
    expect(yieldReason).toBe('error');
    expect(error).toMatchObject({ code: 'process_killed' });
    expect(stored(restored(journal.kept.records))).toEqual(stored(machine));
    // The machine continues when the journal works again.
    const { response } = await go(machine, ['Ok.'], { journal: journal.kept });
    expect(response).toBe('Ok.');
    expect(stored(restored(journal.kept.records))).toEqual(stored(machine));
  });

  test.each([2, 3, 4, 5, 6])(
    '[A16] leaves a machine that continues as another from its records does: write %i is refused',
    async (at) => {
      const journal = crashingJournal(at);
      const machine = make();
      const script: Script = ({ prompt }) =>
        prompt.some(({ role }) => role === 'tool') ? 'Ok.' : { toolName: 'look', input: {} };
      await go(machine, script, { input: 'Go.', journal });
      const before = journal.kept.records;
      const { response } = await go(machine, script, { journal: journal.kept });
      const other = restored(before);
      expect(response).toBe((await go(other, script)).response);
      const kinds = (one: Machine): readonly string[] => one.history.map(({ kind }) => kind);
      expect(kinds(machine)).toEqual(kinds(other));
      expect(stored(restored(journal.kept.records))).toEqual(stored(machine));
    },
  );

  test('[A16] a message that comes while it refuses the first write is recorded once by the next run', async () => {
    const machine = make();
    const append: Journal['append'] = async () => {
      machine.enqueue('Hurry!');
      throw new Error('Not now.');
    };
    const kept = memoryJournal();
    expect((await go(machine, [], { input: 'Go.', journal: { ...kept, append } })).error).toEqual(
      new Error('Not now.'),
    );
    const { response } = await go(machine, ['I hurry.'], { journal: kept });
    expect(response).toBe('I hurry.');
    expect(stored(restored(kept.records))).toEqual(stored(machine));
  });

  test('[A16] an answer that was recorded is not asked for again if the end of its step was refused', async () => {
    const journal = crashingJournal(3);
    const machine = make();
    const model = scriptedModel(['Ok.']);
    const refused = await runMachineToCompletion(machine, { model, input: 'Go.', journal });
    expect([refused.yieldReason, journal.writes.at(-1)]).toEqual(['error', 'stop']);
    const { response } = await runMachineToCompletion(machine, { model, journal: journal.kept });
    expect([response, model.requests.length]).toEqual(['Ok.', 1]);
    expect(stored(restored(journal.kept.records))).toEqual(stored(machine));
  });

  test('[A16] does not fail a worker whose write it refused: nothing is ceded', async () => {
    const journal = crashingJournal(7);
    const machine = make();
    await go(machine, [take('hire'), { toolName: 'look' }, 'Ok.'], { input: 'Go.', journal });
    expect(journal.writes.at(-1)).toBe('settled look');
    expect(machine.instance('root.1')?.phase).toEqual({ kind: 'ready' });
    expect(machine.history.filter(({ kind }) => kind === 'ceded')).toEqual([]);
  });

  test('[A16] the input of a run that it refuses is not in the machine', async () => {
    const machine = make();
    const { error } = await go(machine, ['Ok.'], { input: 'Go.', journal: crashingJournal(1) });
    expect(error).toMatchObject({ code: 'process_killed' });
    expect(machine.history).toEqual([]);
    expect(machine.tree.queue).toEqual([]);
  });

  test('[A16] a journal that never answers is given up at the deadline, and the machine refuses to continue', async () => {
    const never: Journal = { append: () => new Promise(() => {}), settle: () => new Promise(() => {}) };
    const machine = make();
    const clock = fakeClock();
    const steps = go(machine, ['Ok.'], { input: 'Go.', journal: never, clock, deadline: clock.now() + 5_000 });
    for (let at = 0; at < 8; at++) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(1_000);
    }
    expect((await steps).error).toBeInstanceOf(JournalStalled);
    expect((await go(machine, ['Ok.'])).error).toBeInstanceOf(MachineError);
    await expect(machine.command('add', { by: 1 })).rejects.toThrow('machineFromRecords');
    await expect(recordMachine(machine, never)).rejects.toThrow('machineFromRecords');
  });

  test('an option that is not a journal is refused', () => {
    expect(() => runMachine(make(), { model: scriptedModel([]), journal: {} as never })).toThrow(
      'append() and settle()',
    );
  });
});

describe('records that do not fit', () => {
  const plain = node({ instructions: 'boss', state: counting });

  async function records(): Promise<readonly JournalRecord[]> {
    const journal = memoryJournal();
    await go(make(), [{ toolName: 'updateState', input: { n: 3 } }, take('leave'), 'Bye.'], { input: 'Go.', journal });
    return journal.records;
  }

  test('[A20] a node that is gone: the error names instance, node and path, and has the tree', async () => {
    const smaller = charter({ nodes: { boss: plain } });
    const error = await records().then((all) => caught(() => restored(all, smaller)));
    expect(error).toMatchObject({
      path: 'tree.root.node',
      instanceId: 'root',
      node: 'gone',
      tree: { root: { id: 'root' } },
    });
    expect(error.message).toContain('This is instance "root" of node "gone".');
  });

  test('[A20] a state that its schema refuses: the same', async () => {
    const stricter = charter({
      nodes: { boss: plain, hand, gone: node({ instructions: 'g', state: z.object({ n: z.string() }) }) },
    });
    const error = await records().then((all) => caught(() => restored(all, stricter)));
    expect(error).toMatchObject({ path: 'tree.root.state.n', instanceId: 'root', node: 'gone' });
  });

  test('[A20] migrate(tree) repairs it, is asked only then, and the repaired tree is recorded', async () => {
    const all = await records();
    const next = charter({ nodes: { boss: plain, hand, left: node({ instructions: 'left', state: counting }) } });
    const migrate = (tree: MachineJson['tree']): MachineJson['tree'] => ({
      ...tree,
      root: { ...tree.root, node: 'left', state: { n: 7 } },
    });
    const machine = machineFromRecords(next, all, { session, migrate });
    expect(machine.tree.root).toMatchObject({ node: 'left', state: { n: 7 } });
    const journal = memoryJournal();
    for (const { entry, staged } of all) {
      if (staged === undefined) journal.append([entry]);
      else journal.settle(entry as Extract<Entry, { kind: 'settled' }>, staged);
    }
    await go(machine, [{ toolName: 'updateState', input: { n: 8 } }, 'Here.'], { input: 'You?', journal });
    const asked = () => expect.unreachable();
    const again = machineFromRecords(next, journal.records, { session, migrate: asked as never });
    expect(again.tree.root).toMatchObject({ node: 'left', state: { n: 8 } });
    expect(stored(again)).toEqual(stored(machine));
    const json = serializeMachine(restored(all));
    expect(deserializeMachine(next, json, { session, migrate }).tree.root).toMatchObject({ node: 'left' });
  });

  test('[A20] damaged ones are refused with their path', async () => {
    const all = await records();
    const broken = (index: number, change: (record: never) => unknown) =>
      caught(() =>
        restored(all.map((one, at) => (at === index ? change(structuredClone(one) as never) : one)) as never),
      );
    expect(broken(0, () => ({ entry: { kind: 'turn', thread: 'root' } })).path).toBe('records[0].entry');
    expect(broken(1, () => null).path).toBe('records[1]');
    expect(broken(1, () => ({ entry: { kind: 'message' } })).path).toBe('records[1].entry.thread');
    expect(broken(2, () => ({ entry: { kind: 'machine', change: { kind: 'nope' } } })).path).toBe(
      'records[2].entry.change.kind',
    );
    expect(broken(2, () => ({ entry: { kind: 'machine', change: { kind: 'removed', id: 'root.9' } } })).path).toBe(
      'records[2].entry.change',
    );
    expect(caught(() => restored([])).message).toContain('the records must begin with the whole machine');
    expect(caught(() => restored(all.slice(1))).path).toBe('records[0].entry');
    expect(caught(() => restored(all.filter((_one, at) => at !== 3))).path).toContain('threads.root.transcript');
  });

  function caught(read: () => unknown): StoredMachineError {
    try {
      read();
    } catch (error) {
      expect(error).toBeInstanceOf(StoredMachineError);
      return error as StoredMachineError;
    }
    return expect.unreachable();
  }
});

describe('a machine that has nothing left to do', () => {
  const finish = tool({
    description: 'F.',
    inputSchema: none,
    terminal: true,
    execute: () => ({ paid: 40 }),
  });
  const cashier = charter({ nodes: { cashier: node({ instructions: 'Pay.', tools: { finish } }) } });
  const begin = (): Machine => createMachine(cashier, { root: 'cashier' });

  test.each([
    { answer: 'a text', script: ['Paid.'] as Script },
    { answer: 'the output of a terminal tool', script: [{ toolName: 'finish' }] as Script },
  ])(
    '[A16] gives $answer again, also in the process after the one that died before it used the answer',
    async ({ script }) => {
      const journal = memoryJournal();
      const machine = begin();
      const { response, output } = await go(machine, script, { input: 'Pay.', journal });
      expect(response).not.toBe('');
      const rebuilt = machineFromRecords(cashier, journal.records);
      const stored = deserializeMachine(cashier, JSON.stringify(serializeMachine(machine)));
      const count = journal.records.length;
      for (const one of [machine, rebuilt]) {
        const again = await go(one, [], { journal });
        expect(again).toMatchObject({ yieldReason: 'end_turn', response, output });
      }
      expect(journal.records).toHaveLength(count);
      expect(await go(stored, [])).toMatchObject({ yieldReason: 'end_turn', response, output });
    },
  );

  test('[A16] does not repeat an answer after something else happened', async () => {
    const machine = make();
    expect((await go(machine, [])).response).toBe('');
    await go(machine, ['Hello.'], { input: 'Hi.' });
    const journal = memoryJournal();
    await machine.command('add', { by: 1 });
    expect((await go(machine, [], { journal })).response).toBe('');
    expect((await go(machine, [], { journal })).response).toBe('');
    expect((await go(restored(journal.records), [])).response).toBe('');
    const silent = { role: 'user', content: 'psst', silent: true } as const;
    expect((await go(machine, [], { input: silent })).response).toBe('');
    expect((await go(machine, [])).response).toBe('');
  });
});
