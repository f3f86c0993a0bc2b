import { pending, slice, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  cede,
  charter,
  createMachine,
  deserializeMachine,
  type Machine,
  type MachineJson,
  node,
  pack,
  type RunMachineOptions,
  runMachine,
  type StateContext,
  StoredMachineError,
  serializeMachine,
  spawn,
  suspend,
  to,
} from '../../src/index.ts';
import { type Asked, outcomes, problemOf, reasons, run, type Script, systemOf, texts } from '../kit.ts';

const counting = z.object({ n: z.number() });
const shelf = pack({
  name: 'shelf',
  state: counting,
  initialState: { n: 0 },
  tools: (make) => ({
    shelve: make({
      description: 'S.',
      inputSchema: z.object({}),
      execute: (_i, ctx) => ctx.updateState({ n: ctx.state.n + 1 }),
    }),
  }),
});
const done = { description: 'Done.', handler: () => cede('worked') };
const ask = { description: 'Asks.', handler: () => suspend('may I?') };
const worker = node({
  instructions: 'worker',
  state: counting,
  initialState: { n: 1 },
  worker: true,
  transitions: { done, ask },
});
const inline = node({ instructions: ({ n }) => `inline ${n}`, state: counting, transitions: { done, ask } });
const root = node({
  instructions: ({ n }) => `root ${n}`,
  state: counting,
  initialState: { n: 0 },
  packs: [shelf],
  tools: (make) => ({
    add: make({
      description: 'Adds.',
      inputSchema: z.object({}),
      execute: (_i, ctx) => ctx.updateState({ n: ctx.state.n + 1 }),
    }),
  }),
  transitions: {
    inline: { description: 'I.', targets: [inline], handler: (_i, ctx) => to(inline, { n: ctx.state.n + 10 }) },
    child: { description: 'C.', handler: () => spawn(inline, { n: 5 }) },
    hire: { description: 'H.', handler: () => spawn([worker, { node: worker, state: { n: 2 } }]) },
    ask,
    unlisted: { description: 'U.', handler: () => to(unlisted, { n: 3 }) },
  },
});
const unlisted = node({ instructions: ({ n }) => `unlisted ${n}`, state: counting });
const make = () => charter({ nodes: { root, worker }, packs: [shelf] });

const take = (name: string) => ({ toolName: `transition_${name}` });

function restored(machine: Machine, made = make()): Machine {
  return deserializeMachine(made, JSON.stringify(serializeMachine(machine)));
}

/** Runs the same script on a machine that is stored and read back before every step, and on one that is not. */
async function twins(script: (request: Asked) => unknown, inputs: readonly string[]) {
  const one = createMachine(make(), { root });
  let other = createMachine(make(), { root });
  const said: unknown[][] = [[], []];
  for (const input of inputs) {
    for (const { response, yieldReason } of (await run(one, script as Script, { input })).steps)
      said[0]?.push([yieldReason, response]);
    other.enqueue(input);
    for (let isDone = false; !isDone; ) {
      other = restored(other);
      const { value } = await runMachine(other, { model: scriptedModel(script as Script) }).next();
      said[1]?.push([value.yieldReason, value.response]);
      isDone = value.done;
    }
  }
  return { one, other, said };
}

const plainTree = (machine: Machine) => JSON.parse(JSON.stringify(machine.tree));
const withoutIds = (text: string) => text.replace(/"callId":"[^"]*"/g, '');

describe('a machine stored and restored before every step behaves as one that is not', () => {
  const scripts: Record<string, (request: Asked) => unknown> = {
    'plain calls and packs': (request) =>
      texts(request).at(-1)?.startsWith('user') ? [{ toolName: 'add' }, { toolName: 'shelve' }] : 'Ok.',
    'inline nodes, by to': (request) => (systemOf(request).startsWith('root') ? take('inline') : 'Inline here.'),
    'a child, by spawn and cede': (request) => {
      if (systemOf(request).startsWith('inline')) return take('done');
      return texts(request).at(-1)?.includes('has finished') ? 'Back.' : take('child');
    },
    workers: (request) => {
      if (systemOf(request).startsWith('worker'))
        return texts(request).length < 5 ? { toolName: 'updateState', input: { n: 7 } } : take('done');
      return texts(request).at(-1)?.includes('has finished') ? 'Back.' : take('hire');
    },
    suspensions: () => take('ask'),
  };
  for (const [what, script] of Object.entries(scripts)) {
    test(`[M26] ${what}`, async () => {
      const { one, other, said } = await twins(script, ['First.', 'Second.']);
      expect(said[1]).toEqual(said[0]);
      expect(withoutIds(JSON.stringify(plainTree(other)))).toEqual(withoutIds(JSON.stringify(plainTree(one))));
      expect(other.history.map(({ kind, instanceId }) => `${kind} ${instanceId}`)).toEqual(
        one.history.map(({ kind, instanceId }) => `${kind} ${instanceId}`),
      );
    });
  }

  test('[M26] waiting calls of the primary and of workers can be answered after a restart', async () => {
    const machine = createMachine(make(), { root });
    await run(machine, (request: Asked) => (systemOf(request).startsWith('root') ? take('hire') : take('ask')), {
      input: 'Go.',
    });
    expect(machine.suspended).toHaveLength(2);
    const first = restored(machine);
    first.resume(first.suspended[1]?.id ?? '', 'you may');
    // The answer is in the stored machine too.
    const second = restored(first);
    const { steps } = await run(second, ['Done.']);
    expect(outcomes(steps)).toEqual([['transition_ask', 'ok', 'you may']]);
    expect(second.suspended).toMatchObject([{ instanceId: 'root.1', reason: 'may I?' }]);
  });

  test('[M26] the queue survives, with silent messages and with content that JSON cannot hold', async () => {
    const machine = createMachine(make(), { root });
    machine.enqueue({ role: 'user', content: 'psst', silent: true });
    const file = {
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'data', data: new Uint8Array([1, 2]) },
    } as const;
    machine.enqueue({ role: 'user', content: [file] });
    const { requests } = await run(restored(machine), ['Nice.']);
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(requests[0]?.prompt)).toContain('"data":"AQI="');
    const quiet = createMachine(make(), { root });
    quiet.enqueue({ role: 'user', content: 'psst', silent: true });
    expect((await run(restored(quiet), [])).requests).toHaveLength(0);
  });

  test('[M26] a node that only a handler knows is restored by the same charter, and refused by another with a clear error', async () => {
    const made = make();
    const machine = createMachine(made, { root });
    await run(machine, [take('unlisted'), 'Hi.'], { input: 'Go.' });
    expect(machine.tree.root.node).toBe('root.unlisted');
    const { requests } = await run(restored(machine, made), ['Still here.'], { input: 'You?' });
    expect(systemOf(requests[0])).toBe('unlisted 3');
    expect(() => restored(machine, make())).toThrow(
      /tree\.root\.node: the charter has no node "root\.unlisted".*targets/,
    );
  });

  test('[M26] sessions survive: slices that the options name', async () => {
    const seen = slice('seen', { initial: 0, on: { seen: (count: number) => count + 1 } });
    const look = tool({
      description: 'L.',
      inputSchema: z.object({}),
      execute: (_i, ctx) => {
        ctx.session.dispatch({ type: 'seen' });
        return ctx.session.read(seen);
      },
    });
    const made = charter({ nodes: { n: node({ instructions: 'n', tools: { look } }) } });
    const session = () => ({ slices: [seen] });
    const machine = createMachine(made, { root: 'n', session });
    await run(machine, [{ toolName: 'look' }, 'Ok.'], { input: 'Go.' });
    const json = JSON.stringify(serializeMachine(machine));
    const { steps } = await run(deserializeMachine(made, json, { session }), [{ toolName: 'look' }, 'Ok.'], {
      input: 'Go.',
    });
    expect(outcomes(steps)[0]?.[2]).toBe('2');
    expect(() => deserializeMachine(made, json)).toThrow('threads.root.session');
  });

  test('[M26] a session with a value that could not be read back is refused when it is stored, not when it is needed', async () => {
    const hidden = slice('hidden', { initial: 0, on: { hid: (count: number) => count + 1 } });
    const hide = tool({
      description: 'H.',
      inputSchema: z.object({}),
      execute: (_i, ctx) => void (ctx.session.read(hidden), ctx.session.dispatch({ type: 'hid' })),
    });
    const machine = createMachine(charter({ nodes: { n: node({ instructions: 'n', tools: { hide } }) } }), {
      root: 'n',
    });
    await run(machine, [{ toolName: 'hide' }, 'Ok.'], { input: 'Go.' });
    expect(() => serializeMachine(machine)).toThrow('hidden');
  });
});

describe('a machine stored in the middle of a step', () => {
  const effects: string[] = [];
  const late = node({ instructions: 'late' });
  const busy = node({
    instructions: ({ n }) => `busy ${n}`,
    state: counting,
    initialState: { n: 0 },
    tools: {
      one: tool({
        description: '1.',
        inputSchema: z.object({}),
        execute: (_i, ctx) => {
          effects.push('one');
          (ctx as StateContext<{ n: number }>).updateState({ n: 1 });
          return 'one';
        },
      }),
      two: tool({
        description: '2.',
        inputSchema: z.object({}),
        effects: 'session',
        execute: async () => {
          effects.push('two');
          await gate.promise;
          return 'two';
        },
      }),
      risky: tool({
        description: 'R.',
        inputSchema: z.object({}),
        execute: async () => {
          effects.push('risky');
          await gate.promise;
          return 'risky';
        },
      }),
    },
    transitions: { late },
  });
  let gate = Promise.withResolvers<void>();
  const made = charter({ nodes: { busy, late } });

  async function storedIn(
    batch: readonly { toolName: string }[],
    until: string,
  ): Promise<{ json: MachineJson; finish: () => Promise<void> }> {
    effects.length = 0;
    gate = Promise.withResolvers<void>();
    const machine = createMachine(made, { root: busy });
    const running = run(machine, [batch, 'Done.'], { input: 'Go.' });
    while (effects.at(-1) !== until) await new Promise((resolve) => setImmediate(resolve));
    const json = JSON.parse(JSON.stringify(serializeMachine(machine)));
    const finish = async (): Promise<void> => {
      gate.resolve();
      await running;
    };
    return { json, finish };
  }

  test('[M26] settled calls stay settled, with their state; the next run runs the others once', async () => {
    const { json, finish } = await storedIn([{ toolName: 'one' }, { toolName: 'two' }], 'two');
    expect(json.tree.root.state).toEqual({ n: 1 });
    const machine = deserializeMachine(made, json);
    await finish();
    effects.length = 0;
    const { steps, requests } = await run(machine, ['Finished.']);
    expect(effects).toEqual(['two']);
    expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
    expect(requests.map(problemOf)).toEqual([undefined]);
    expect(systemOf(requests[0])).toBe('busy 1');
    expect(machine.history.filter(({ kind }) => kind === 'patched')).toHaveLength(1);
    const ends = machine.history.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement.toolName] : []));
    expect(ends).toEqual(['one', 'two']);
  });

  test('[M26] a call with outside effects that was running is not run again by itself', async () => {
    const { json, finish } = await storedIn([{ toolName: 'risky' }], 'risky');
    const machine = deserializeMachine(made, json);
    await finish();
    effects.length = 0;
    const { steps } = await run(machine, ['Careful.']);
    expect(effects).toEqual([]);
    expect(steps[0]?.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'unknown_outcome' });
  });

  test('[M26] a message that arrived meanwhile is not lost, and is not put between a call and its result', async () => {
    const { json, finish } = await storedIn([{ toolName: 'two' }], 'two');
    const machine = deserializeMachine(made, json);
    machine.enqueue('Hurry!');
    await finish();
    const { requests, steps } = await run(machine, ['There.']);
    expect(texts(requests[0]).slice(1)).toEqual(['user: Go.', 'assistant: two()', 'tool: two', 'user: Hurry!']);
    const kinds = machine.history.map(({ kind }) => kind).filter((kind) => kind !== 'turn' && kind !== 'stop');
    expect(kinds).toEqual(['message', 'reply', 'settled', 'message', 'reply']);
    expect(steps.at(-1)).toMatchObject({ response: 'There.', done: true });
  });

  test('[M26] workers that a command removes in that state leave no call without an end', async () => {
    gate = Promise.withResolvers<void>();
    effects.length = 0;
    const two = busy.tools.two as never;
    const hand = node({ instructions: 'hand', worker: true, tools: { two } });
    const boss = node({
      instructions: 'boss',
      transitions: { hire: { description: 'H.', handler: () => spawn(hand) } },
      commands: { alone: { execute: () => to('boss') } },
    });
    const charter2 = charter({ nodes: { boss, hand } });
    const machine = createMachine(charter2, { root: boss });
    const running = run(machine, [take('hire'), [{ toolName: 'two' }, { toolName: 'two' }], 'Found.', 'Done.'], {
      input: 'Go.',
    });
    while (effects.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const other = deserializeMachine(charter2, serializeMachine(machine));
    gate.resolve();
    await running;
    await other.command('alone');
    const { steps } = await run(other, ['Alone.'], { input: 'Well?' });
    expect(steps.at(-1)?.response).toBe('Alone.');
    const ends = other.history.flatMap((entry) =>
      entry.kind === 'settled' && entry.instanceId === 'root.1' ? [entry.settlement.outcome.status] : [],
    );
    expect(ends).toEqual(['cancelled', 'cancelled']);
  });

  test('[M26] the original machine continues unaffected', async () => {
    const { finish } = await storedIn([{ toolName: 'two' }, { toolName: 'transition_late' }], 'two');
    await finish();
  });
});

describe('a machine stored at the very moment when', () => {
  const job = tool({ description: 'J.', inputSchema: z.object({}), execute: () => pending() });
  const look = tool({ description: 'L.', inputSchema: z.object({}), effects: 'session', execute: () => 'seen' });
  const answer = tool({ description: 'A.', inputSchema: z.object({}), terminal: true, execute: () => 'the answer' });
  const more = { description: 'M.', handler: () => spawn('talker') };
  const hand = node({ instructions: 'hand', worker: true, tools: { look }, transitions: { more } });
  const talker = node({ instructions: 'talker', tools: { look }, transitions: { ask } });
  const boss = node({
    instructions: 'boss',
    tools: { job, look, answer },
    transitions: {
      ask,
      hire: { description: 'H.', handler: () => spawn(hand) },
      both: { description: 'B.', handler: () => spawn([hand, talker]) },
      again: { description: 'A.', handler: () => to('boss') },
    },
  });
  const staff = charter({ nodes: { boss, hand, talker } });
  type Event = Parameters<NonNullable<RunMachineOptions['onEvent']>>[0];

  /** Stores the machine when the expected event occurs, and reads it back. */
  async function storedWhen(
    machine: Machine,
    script: Script,
    isIt: (event: Event) => boolean,
    input?: string,
    maxSteps = 50,
  ): Promise<Machine> {
    let json = '';
    const onEvent = (event: Event): void => {
      if (json === '' && isIt(event)) json = JSON.stringify(serializeMachine(machine));
    };
    await run(machine, script, { onEvent, maxSteps, ...(input === undefined ? {} : { input }) });
    return deserializeMachine(staff, json);
  }
  const unsettled = (machine: Machine) => {
    const ended = machine.history.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement.callId] : []));
    const asked = machine.history.flatMap((entry) =>
      entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [],
    );
    return asked.filter((callId) => !ended.includes(callId));
  };

  test('[M26] one leaf has ended and another has not: the first is not asked again, and its result arrives', async () => {
    const script = (request: Asked) => {
      if (systemOf(request).startsWith('boss')) return take('both');
      return systemOf(request).startsWith('hand') ? 'Found it.' : stored.promise.then(() => 'Hello.');
    };
    const stored = Promise.withResolvers<void>();
    const isIt = ({ type, instanceId }: Event) => {
      const isOver = type === 'turn.end' && instanceId === 'root.1';
      if (isOver) setImmediate(stored.resolve);
      return isOver;
    };
    const machine = await storedWhen(createMachine(staff, { root: boss }), script, isIt, 'Go.');
    const asked: string[] = [];
    const { steps } = await run(machine, (request: Asked) => (asked.push(systemOf(request)), 'Hello again.'));
    expect(asked).toEqual([expect.stringMatching(/^talker/)]);
    expect(machine.history.filter(({ kind }) => kind === 'ceded')).toMatchObject([{ content: 'Found it.' }]);
    expect(steps.at(-1)).toMatchObject({ response: 'Hello again.', done: true });
  });

  test('[M26] the last answer has reached its call, and no model has read it yet', async () => {
    const machine = createMachine(staff, { root: boss });
    await run(machine, [take('ask')], { input: 'Go.' });
    machine.resume(machine.suspended[0]?.id ?? '', 'yes');
    const isIt = ({ type }: Event) => type === 'turn.end';
    const other = await storedWhen(machine, ['Good.'], isIt);
    expect(other.suspended).toEqual([]);
    const { steps } = await run(other, ['Good.']);
    expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
    expect(unsettled(other)).toEqual([]);
  });

  test('[M26] it has continued after one answer while another call still waits', async () => {
    const machine = createMachine(staff, { root: boss });
    await run(machine, [[{ toolName: 'job' }, { toolName: 'answer' }, take('ask')]], { input: 'Go.' });
    machine.resume(machine.suspended.find(({ toolName }) => toolName === 'transition_ask')?.id ?? '', 'yes');
    const isIt = ({ type }: Event) => type === 'tool-call.start';
    const calls = [{ toolName: 'look' }, { toolName: 'look' }];
    const other = await storedWhen(
      machine,
      [calls, 'Good.'],
      (event) => isIt(event) && 'toolName' in event && event.toolName === 'look',
    );
    const { steps } = await run(other, ['Good.']);
    expect(steps.at(-1)?.response).toBe('Good.');
    expect(unsettled(other)).toEqual(other.suspended.map(({ callId }) => callId));
    expect(other.suspended).toMatchObject([{ toolName: 'job' }]);
  });

  for (const [who, batches, made] of [
    ['the primary', { boss: [take('hire'), take('again')], hand: 'Done.' }, 'transition_hire'],
    ['a worker', { boss: take('hire'), hand: [take('more'), take('nope'), take('more')] }, 'transition_more'],
  ] as const) {
    test(`[M26] a call has made ${who} a parent, and others of its batch have no end`, async () => {
      const script = (request: Asked) => {
        if (systemOf(request).startsWith('boss')) return batches.boss;
        return systemOf(request).startsWith('hand') ? batches.hand : 'Done.';
      };
      const isIt = (event: Event) => event.type === 'tool-call.complete' && event.toolName === made;
      const machine = createMachine(staff, { root: boss });
      machine.enqueue('Go.');
      const other = await storedWhen(machine, script as Script, isIt, undefined, 4);
      await run(other, script as Script, { maxSteps: 1 });
      expect(unsettled(other)).toEqual([]);
    });
  }
});

describe('a stored machine that does not fit is refused with the path', () => {
  async function stored(where: string, value: unknown): Promise<unknown> {
    const machine = createMachine(make(), { root });
    const script = (request: Asked) =>
      systemOf(request).startsWith('root') ? [{ toolName: 'shelve' }, take('hire')] : take('ask');
    await run(machine, script, { input: 'Go.' });
    const json = JSON.parse(JSON.stringify(serializeMachine(machine)));
    const keys = where.split('.');
    const owner = keys.slice(0, -1).reduce((at, key) => at[key], json);
    owner[keys.at(-1) as string] = value;
    return json;
  }
  const cases: Record<string, [path: string, where: string, value: unknown]> = {
    'another version': ['version', 'version', 2],
    'state against its schema': ['tree.root.state.n', 'tree.root.state.n', 'x'],
    'state of a child against its schema': ['tree.root.children[1].state.n', 'tree.root.children.1.state.n', null],
    'a node that is gone': ['tree.root.children[0].node', 'tree.root.children.0.node', 'gone'],
    'a pack that is gone': ['tree.packs.other', 'tree.packs.other', {}],
    "a pack's state against its schema": ['tree.packs.shelf.n', 'tree.packs.shelf.n', 'x'],
    "an id that is no child's": ['tree.root.children[1].id', 'tree.root.children.1.id', 'root.1'],
    'an id that was never born': ['tree.root.children[1].id', 'tree.root.children.1.id', 'root.9'],
    'a root that is none': ['tree.root.id', 'tree.root.id', 'x'],
    'a root that is a worker': ['tree.root.worker', 'tree.root.worker', true],
    'a worker that talks': ['tree.root.children[0].worker', 'tree.root.children.0.worker', false],
    'a worker that idles': ['tree.root.children[0].phase.kind', 'tree.root.children.0.phase.kind', 'idle'],
    'a wait that is none': ['tree.root.children[0].waits[0].kind', 'tree.root.children.0.waits.0.kind', 'x'],
    'a count that is none': ['tree.root.born', 'tree.root.born', -1],
    'children that are none': ['tree.root.children', 'tree.root.children', 3],
    'no tree': ['tree', 'tree', null],
    'a transcript that is none': ['threads.root.transcript.version', 'threads.root.transcript', {}],
    'a thread that claims too much': ['threads.root.logged', 'threads.root.logged', 999],
    'a log that goes too far': ['log[0].said.to', 'log.0.said.to', 999],
    'a log that is told too far': ['told', 'told', 999],
    'a queue that holds no message': ['tree.queue.entries[0]', 'tree.queue.entries', [{ kind: 'turn' }]],
  };
  for (const [what, [path, where, value]] of Object.entries(cases)) {
    test(`[M26] ${what}: ${path}`, async () => {
      const json = await stored(where, value);
      expect(() => deserializeMachine(make(), json as never)).toThrow(StoredMachineError);
      expect(() => deserializeMachine(make(), json as never)).toThrow(`restored. ${path}: `);
    });
  }

  test('[M26] a value that is not a stored machine is refused', () => {
    for (const json of ['', '{', 'null', '[]', undefined, null, 3])
      expect(() => deserializeMachine(make(), json as never)).toThrow(StoredMachineError);
  });

  test('[M26] a default that was added to the schema is filled in', async () => {
    const before = charter({
      nodes: { n: node({ instructions: 'n', state: z.object({ a: z.number() }), initialState: { a: 1 } }) },
    });
    const after = charter({
      nodes: { n: node({ instructions: 'n', state: z.object({ a: z.number(), b: z.number().default(2) }) }) },
    });
    const json = serializeMachine(createMachine(before, { root: 'n' }));
    expect(deserializeMachine(after, json).tree.root.state).toEqual({ a: 1, b: 2 });
  });
});
