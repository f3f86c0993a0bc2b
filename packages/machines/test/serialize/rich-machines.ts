import { pending, slice, tool } from '@lastcall/core';
import { scriptedModel, sequentialIds } from '@lastcall/core/testing';
import { z } from 'zod';
import {
  cede,
  charter,
  createMachine,
  type Machine,
  type MachineJson,
  node,
  pack,
  type RunMachineOptions,
  runMachine,
  serializeMachine,
  spawn,
  suspend,
  to,
} from '../../src/index.ts';
import { type Asked, type Script, systemOf } from '../kit.ts';

const counting = z.object({ n: z.number().max(1_000) });
const none = z.object({});
const seen = slice('seen', { initial: 0, on: { looked: (count: number) => count + 1 } });

/** The sessions that the host passes when it restores. */
export const session = () => ({ slices: [seen] });

const shelf = pack({
  name: 'shelf',
  state: counting,
  initialState: { n: 0 },
  tools: (make) => ({
    shelve: make({
      description: 'S.',
      inputSchema: none,
      execute: (_i, ctx) => ctx.updateState({ n: ctx.state.n + 1 }),
    }),
  }),
});

let gate = Promise.withResolvers<void>();
const tools = {
  look: tool({
    description: 'Looks.',
    inputSchema: none,
    effects: 'session',
    execute: (_i, ctx) => {
      ctx.session.dispatch({ type: 'looked' });
      return 'seen';
    },
  }),
  slow: tool({ description: 'Slow.', inputSchema: none, effects: 'session', execute: () => gate.promise }),
  risky: tool({ description: 'Risky.', inputSchema: none, execute: () => gate.promise }),
  job: tool({
    description: 'Job.',
    inputSchema: none,
    effects: 'session',
    execute: () => pending({ expiresInMs: 1e12 }),
  }),
  pay: tool({ description: 'Pays.', inputSchema: none, approval: true, effects: 'session', execute: () => 'paid' }),
  answer: tool({ description: 'Answers.', inputSchema: none, terminal: true, effects: 'session', execute: () => 'so' }),
};
const inline = node({
  instructions: ({ n }) => `inline ${n}`,
  state: counting,
  tools,
  transitions: {
    done: { description: 'D.', handler: () => cede({ found: 1 }) },
    ask: { description: 'A.', handler: () => suspend('may I?') },
  },
});
const transitions = {
  inline: { description: 'I.', targets: [inline], handler: () => to(inline, { n: 3 }) },
  child: { description: 'C.', handler: () => spawn(inline, { n: 5 }) },
  hire: { description: 'H.', handler: () => spawn(['worker', { node: 'worker', state: { n: 2 } }]) },
  both: { description: 'B.', handler: () => spawn(['worker', 'talker']) },
  done: { description: 'D.', handler: () => cede('worked') },
  ask: { description: 'A.', handler: () => suspend({ why: 'unsure' }) },
  again: { description: 'R.', handler: () => to('main', { n: 9 }) },
  may: { description: 'M.', approval: true, handler: () => spawn('worker') },
};
const common = { state: counting, initialState: { n: 0 }, tools, transitions };
const main = node({
  instructions: ({ n }) => `main ${n}`,
  ...common,
  packs: [shelf],
  commands: { set: { inputSchema: counting, execute: ({ n }: { n: number }, ctx) => ctx.updateState({ n }) } },
});
const worker = node({ instructions: ({ n }) => `worker ${n}`, worker: true, ...common });
const talker = node({ instructions: ({ n }) => `talker ${n}`, ...common });

export const company = charter({ nodes: { main, worker, talker }, packs: [shelf] });

const call = (toolName: string, input: unknown = {}) => ({ toolName, input });
const take = (name: string) => call(`transition_${name}`);
const options = { newId: sequentialIds() };

async function go(machine: Machine, script: Script, more: Partial<RunMachineOptions> = {}): Promise<void> {
  for await (const _ of runMachine(machine, { model: scriptedModel(script), ...options, ...more }));
}

/** Replies differently as main, as a talker, as an inline node and as a worker. */
const roles = (lines: Readonly<Record<string, unknown>>): Script =>
  ((request: Asked) => lines[systemOf(request).split(' ')[0] ?? ''] ?? 'Done.') as Script;

const begin = () => createMachine(company, { root: 'main', session });
const store = (machine: Machine): MachineJson => JSON.parse(JSON.stringify(serializeMachine(machine)));
const ticks = async () => {
  for (let count = 0; count < 5; count++) await new Promise((resolve) => setImmediate(resolve));
};

/** Answers the last waiting call of that tool. */
function resume(machine: Machine, toolName: string, payload: unknown): void {
  machine.resume(machine.suspended.findLast((one) => one.toolName === toolName)?.id ?? '', payload);
}

async function talked(): Promise<Machine> {
  const machine = begin();
  await go(machine, [[call('look'), call('shelve'), call('nothing')], call('updateState', { n: 2 }), 'Ok.'], {
    input: 'Go.',
  });
  await machine.command('set', { n: 4 });
  await go(machine, [[call('job'), call('answer')]], { input: 'Again.' });
  machine.enqueue({ role: 'user', content: 'psst', silent: true });
  machine.enqueue({
    role: 'user',
    content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQI=' } }],
  });
  machine.enqueue('And?');
  return machine;
}

async function staffed(): Promise<Machine> {
  const machine = begin();
  await go(machine, roles({ main: take('hire'), worker: [call('look'), take('ask'), call('pay')] }), { input: 'Go.' });
  resume(machine, 'transition_ask', { yes: 1 });
  resume(machine, 'pay', { approve: true, input: {} });
  return machine;
}

async function below(): Promise<Machine> {
  const machine = begin();
  const script = roles({ main: take('child'), inline: [call('job'), call('pay'), take('ask')] });
  await go(machine, script, { input: 'Go.' });
  resume(machine, 'job', 'done');
  machine.enqueue('Still there?');
  return machine;
}

async function grown(): Promise<Machine> {
  const machine = begin();
  const hiring = [take('inline'), take('done')];
  await go(machine, roles({ main: take('both'), worker: take('hire'), talker: hiring }), { input: 'Go.', maxSteps: 3 });
  return machine;
}

async function moved(): Promise<Machine> {
  const machine = begin();
  await go(machine, roles({ main: [call('look'), take('inline')], inline: 'Here.' }), { input: 'Go.' });
  await go(machine, roles({ inline: [call('pay'), call('pay')] }), { input: 'Pay.' });
  resume(machine, 'pay', { deny: 'too much' });
  return machine;
}

/** A transition that may spawn, and that was just approved. */
async function allowed(): Promise<Machine> {
  const machine = begin();
  await go(machine, roles({ main: [call('look'), take('may')] }), { input: 'Go.' });
  resume(machine, 'transition_may', true);
  return machine;
}

/** Stored while calls run, of the primary and of a worker. */
async function midStep(): Promise<MachineJson> {
  gate = Promise.withResolvers<void>();
  const machine = begin();
  const batch = [call('look'), call('risky'), call('slow'), take('done')];
  const running = go(machine, roles({ main: take('both'), worker: batch, talker: [call('slow'), call('look')] }), {
    input: 'Go.',
    maxSteps: 3,
  });
  await ticks();
  machine.enqueue('Hurry!');
  const json = store(machine);
  gate.resolve();
  await running;
  return json;
}

/** Stored when a worker has ended and the primary has not. */
async function halfEnded(): Promise<MachineJson> {
  gate = Promise.withResolvers<void>();
  const machine = begin();
  let json: MachineJson | undefined;
  const onEvent: RunMachineOptions['onEvent'] = ({ type, instanceId }) => {
    if (type !== 'turn.end' || instanceId !== 'root.1' || json !== undefined) return;
    json = store(machine);
    gate.resolve();
  };
  const script = roles({ main: [call('look'), take('both')], worker: 'Found.', talker: [call('slow'), call('look')] });
  await go(machine, script, { input: 'Go.', maxSteps: 4, onEvent });
  return json as MachineJson;
}

/** Stored machines of all kinds: at rest, waiting, answered, in the middle of a step. */
export async function richMachines(): Promise<Readonly<Record<string, MachineJson>>> {
  const made = { talked, staffed, below, grown, moved, allowed };
  const stored: [string, MachineJson][] = [];
  for (const [name, make] of Object.entries(made)) stored.push([name, store(await make())]);
  return { ...Object.fromEntries(stored), midStep: await midStep(), halfEnded: await halfEnded() };
}
