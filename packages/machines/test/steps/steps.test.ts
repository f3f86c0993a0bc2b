import { tool } from '@lastcall/core';
import { fakeClock, scriptedModel, settled } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  charter,
  createMachine,
  type Machine,
  type MachineStep,
  node,
  runMachine,
  runMachineToCompletion,
  spawn,
  to,
} from '../../src/index.ts';
import { type Asked, problemOf, reasons, run, systemOf, texts } from '../kit.ts';

const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' });
const worker = node({ instructions: 'worker', worker: true, tools: { look } });
const root = node({
  instructions: 'root',
  tools: { look },
  transitions: {
    hire: { description: 'Hires.', handler: () => spawn(worker) },
    both: { description: 'Both.', handler: () => spawn([worker, 'talker']) },
  },
});
const talker = node({ instructions: 'talker', tools: { look } });
const make = () => createMachine(charter({ nodes: { root, worker, talker } }), { root });
const LOOK = { toolName: 'look' };

describe('messages that arrive during a run', () => {
  test('[M18] one that arrives while the model replies is answered without further input, after that reply', async () => {
    const machine = make();
    const script = [
      () => {
        machine.enqueue('And tomorrow?');
        return 'Sunny today.';
      },
      'Rain tomorrow.',
    ];
    const { steps, requests } = await run(machine, script, { input: 'Weather?' });
    expect(steps.map(({ response, done }) => [response, done])).toEqual([
      ['Sunny today.', false],
      ['Rain tomorrow.', true],
    ]);
    expect(texts(requests[1])).toEqual([
      'system: root',
      'user: Weather?',
      'assistant: Sunny today.',
      'user: And tomorrow?',
    ]);
  });

  test('[M18] one that arrives while a tool runs comes after the reply and its results', async () => {
    const machine = make();
    const nosy = tool({ description: 'N.', inputSchema: z.object({}), execute: () => machine2.enqueue('Hurry!') });
    const machine2: Machine = createMachine(charter({ nodes: { n: node({ instructions: 'n', tools: { nosy } }) } }), {
      root: 'n',
    });
    const { requests, steps } = await run(machine2, [{ toolName: 'nosy' }, 'Done.'], { input: 'Go.' });
    expect(
      texts(requests[1])
        .slice(1)
        .map((text) => text.split(':')[0]),
    ).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
    expect(machine.tree.queue).toEqual([]);
  });

  test('[M18] one that arrives after the last step is answered by the same run', async () => {
    const machine = make();
    const model = scriptedModel(['One.', 'Two.']);
    const said: unknown[] = [];
    for await (const { response } of runMachine(machine, { model, input: 'First.' })) {
      said.push(response);
      if (said.length === 1) machine.enqueue('Second.');
    }
    expect(said).toEqual(['One.', 'Two.']);
  });

  test('[M18] one that arrives while only workers act goes to the next primary that acts', async () => {
    const machine = make();
    const script = [
      { toolName: 'transition_hire' },
      () => {
        machine.enqueue('Still there?');
        return 'Found it.';
      },
      'Yes, and it is found.',
    ];
    const { requests } = await run(machine, script, { input: 'Go.' });
    expect(texts(requests[2]).slice(-2)).toEqual([
      'user: "worker" (root.1) has finished. Its result:\n\nFound it.',
      'user: Still there?',
    ]);
  });

  test('[M18] a value that is not a message is refused, and nothing is queued', () => {
    const machine = make();
    for (const message of [
      undefined,
      3,
      {},
      { role: 'tool', content: [] },
      { role: 'user' },
      { role: 'system', content: [] },
      { role: 'user', content: 'x', silent: 1 },
    ])
      expect(() => machine.enqueue(message as never)).toThrow();
    const call = { type: 'tool-call', toolCallId: 'x', toolName: 'y', input: {} };
    expect(() => machine.enqueue({ role: 'assistant', content: [call] } as never)).toThrow('cannot hold tool calls');
    expect(machine.tree.queue).toEqual([]);
    expect(() => runMachine(machine, { model: scriptedModel([]), input: [{ role: 'x' }] as never })).toThrow('role');
  });

  for (const [part, problem] of [
    [{ type: 'image', image: 'https://example.com/cat.png' }, 'content[0].type: must be one of "text", "file".'],
    [{ type: 'file', mediaType: 'image/png', data: new Uint8Array([1]) }, 'content[0].data: must be an object.'],
    [{ type: 'text', text: 5 }, 'content[0].text: must be a text.'],
    [null, 'content[0]: must be an object.'],
  ] as const)
    test(`[M18] [M27] a part that could not be restored is refused: ${JSON.stringify(part)}`, () => {
      const machine = make();
      const message = { role: 'user', content: [part] } as never;
      expect(() => machine.enqueue(message)).toThrow(problem);
      expect(() => runMachine(machine, { model: scriptedModel([]), input: message })).toThrow(problem);
      expect(machine.tree.queue).toEqual([]);
    });

  test('[M18] a message that its caller changes afterwards is read as it was given', async () => {
    const machine = make();
    const part = { type: 'text' as const, text: 'Pay 5 €.' };
    machine.enqueue({ role: 'user', content: [part] });
    part.text = 'Pay 500 €.';
    const { requests } = await run(machine, ['Paid.']);
    expect(texts(requests[0]).at(-1)).toBe('user: Pay 5 €.');
  });

  test('[M21] only silent messages: history grows, no model call', async () => {
    const machine = make();
    const silent = { role: 'user', content: 'Just so you know.', silent: true } as const;
    const { steps, requests } = await run(machine, [], { input: silent });
    expect(requests).toHaveLength(0);
    expect(steps).toMatchObject([{ yieldReason: 'end_turn', done: true }]);
    expect(steps[0]).not.toHaveProperty('response');
    expect(steps[0]?.entries.map(({ kind }) => kind)).toEqual(['message']);
    const { requests: later } = await run(machine, ['I know.'], { input: 'Well?' });
    expect(texts(later[0]).slice(1)).toEqual(['user: Just so you know.', 'user: Well?']);
  });

  test('[M21] a silent message among others keeps its place in the request', async () => {
    const { requests } = await run(make(), ['Ok.'], {
      input: [{ role: 'system', content: 'It is late.', silent: true }, 'Hi.'],
    });
    expect(requests).toHaveLength(1);
    expect(texts(requests[0]).slice(1)).toEqual(['system: It is late.', 'user: Hi.']);
  });
});

describe('runs', () => {
  test('[M19] two runs of one machine never interleave: the second waits', async () => {
    const machine = make();
    const held = Promise.withResolvers<void>();
    const first = run(machine, [() => held.promise.then(() => LOOK), 'One.'], { input: 'First.' });
    const second = run(machine, ['Two.'], { input: 'Second.' });
    await settled();
    expect(machine.history).toHaveLength(1);
    held.resolve();
    const [one, two] = await Promise.all([first, second]);
    expect(one.steps.at(-1)?.response).toBe('One.');
    expect(two.steps.map(({ response }) => response)).toEqual(['Two.']);
    expect(
      texts(two.requests[0])
        .slice(1)
        .map((text) => text.split(' ')[0]),
    ).toEqual(['user:', 'assistant:', 'tool:', 'assistant:', 'user:']);
  });

  test('[M19] leaving a run lets the next one in', async () => {
    const machine = make();
    for await (const _step of runMachine(machine, { model: scriptedModel([LOOK]), input: 'First.' })) break;
    const { requests } = await run(machine, ['Here.'], { input: 'Second.' });
    expect(problemOf(requests[0] as never)).toBeUndefined();
    expect(texts(requests[0]).at(-1)).toBe('user: Second.');
  });

  test('[M19] a waiting run can be aborted, and does not block the runs behind it', async () => {
    const machine = make();
    const held = Promise.withResolvers<string>();
    const first = run(machine, [() => held.promise], { input: 'First.' });
    const abort = new AbortController();
    const second = run(machine, [], { input: 'Second.', signal: abort.signal });
    const third = run(machine, ['Three.'], { input: 'Third.' });
    await settled();
    abort.abort();
    expect((await second).steps).toMatchObject([{ yieldReason: 'error', done: true, entries: [] }]);
    held.resolve('One.');
    await first;
    expect((await third).steps.at(-1)?.response).toBe('Three.');
    expect(machine.history.filter(({ kind }) => kind === 'message')).toHaveLength(2);
  });

  test('[M19] return() in the middle of a step aborts it, and the machine continues from there', async () => {
    const machine = make();
    const asked = Promise.withResolvers<void>();
    const model = scriptedModel([() => (asked.resolve(), new Promise<string>(() => {}))]);
    const running = runMachine(machine, { model, input: 'First.' });
    const step = running.next();
    await asked.promise;
    await running.return?.();
    expect(await step).toMatchObject({ value: { yieldReason: 'error', leaves: [{ stop: { reason: 'aborted' } }] } });
    const { steps } = await run(machine, ['Better now.']);
    expect(steps.at(-1)?.response).toBe('Better now.');
  });

  test('a signal ends the run with a last step, and the next run goes on', async () => {
    const machine = make();
    const abort = new AbortController();
    const stop = () => {
      abort.abort();
      return LOOK;
    };
    const { steps } = await run(machine, [stop], { input: 'Go.', signal: abort.signal });
    expect(steps).toMatchObject([{ yieldReason: 'error', done: true, leaves: [{ stop: { reason: 'aborted' } }] }]);
    const { steps: more, requests } = await run(machine, ['Here.']);
    expect(more.at(-1)?.response).toBe('Here.');
    expect(requests.map(problemOf)).toEqual([undefined]);
  });

  test('a model that fails ends the run with a step that says so; the next run asks again', async () => {
    const machine = make();
    const { steps } = await run(machine, [new Error('overloaded')], { input: 'Go.', modelRetries: 0 });
    expect(steps).toMatchObject([{ yieldReason: 'error', done: true }]);
    expect(steps[0]?.error).toMatchObject({ message: 'overloaded' });
    const { steps: more, requests } = await run(machine, ['Here.'], { input: 'Still there?' });
    expect(texts(requests[0]).slice(1)).toEqual(['user: Go.', 'user: Still there?']);
    expect(more.at(-1)?.response).toBe('Here.');
  });

  test('a worker whose model fails is done, and its parent gets the error: the turn does not stall', async () => {
    const script = [{ toolName: 'transition_hire' }, new Error('overloaded'), 'Without it, then.'];
    const { steps, requests } = await run(make(), script, { input: 'Go.', modelRetries: 0 });
    expect(reasons(steps)).toEqual(['transition', 'cede', 'end_turn']);
    expect(texts(requests[2]).at(-1)).toContain('It failed: overloaded');
  });

  test('deadline and budget hold for the whole run', async () => {
    const clock = fakeClock();
    const late = await run(make(), [() => clock.advance(50).then(() => LOOK)], {
      input: 'Go.',
      clock,
      deadline: 1_040,
    });
    expect(late.steps.at(-1)).toMatchObject({
      yieldReason: 'error',
      done: true,
      leaves: [{ stop: { reason: 'deadline' } }],
    });
    const called = await run(make(), () => LOOK, { input: 'Go.', budget: { toolCalls: 2 } });
    expect(called.steps.map(({ settlements }) => settlements[0]?.outcome.status)).toEqual(['ok', 'ok', 'error']);
    expect(reasons(called.steps)).toEqual(['tool_use', 'tool_use', 'error']);
    expect(called.steps.at(-1)?.leaves).toMatchObject([{ stop: { reason: 'budget', dimension: 'toolCalls' } }]);
    const spent = await run(make(), () => LOOK, { input: 'Go.', budget: { tokens: 40 } });
    expect(reasons(spent.steps)).toEqual(['tool_use', 'tool_use', 'error']);
    expect(spent.steps.at(-1)?.leaves).toMatchObject([{ stop: { reason: 'budget' } }]);
  });

  test('a deadline that has passed between two steps ends the run', async () => {
    const clock = fakeClock();
    const wait = tool({ description: 'W.', inputSchema: z.object({}), execute: () => 'ok' });
    const machine = createMachine(charter({ nodes: { n: node({ instructions: 'n', tools: { wait } }) } }), {
      root: 'n',
    });
    const steps: MachineStep[] = [];
    for await (const step of runMachine(machine, {
      model: scriptedModel([{ toolName: 'wait' }]),
      input: 'Go.',
      clock,
      deadline: 1_010,
    })) {
      steps.push(step);
      await clock.advance(20);
    }
    expect(steps).toMatchObject([{ yieldReason: 'tool_use' }, { yieldReason: 'error', done: true }]);
  });

  test("a reply that is cut off twice ends the primary's turn", async () => {
    const cut = { text: 'Well, ', finishReason: { unified: 'length', raw: undefined } } as const;
    const { steps } = await run(make(), [cut, cut], { input: 'Go.' });
    expect(reasons(steps)).toEqual(['tool_use', 'error']);
    expect(steps[1]?.leaves).toMatchObject([{ stop: { reason: 'length' } }]);
    const { steps: mended } = await run(make(), [cut, 'Short.'], { input: 'Go.' });
    expect(mended.at(-1)?.response).toBe('Short.');
  });

  test('options that cannot work are refused before anything runs', () => {
    const model = scriptedModel([]);
    expect(() => runMachine(make(), undefined as never)).toThrow('options');
    expect(() => runMachine(make(), {} as never)).toThrow('model');
    expect(() => runMachine(make(), { model, maxSteps: 0 })).toThrow('maxSteps');
    expect(() => runMachine(make(), { model, signal: {} as never })).toThrow('signal');
    expect(() => runMachine(make(), { model, deadline: Number.NaN })).toThrow('deadline');
    expect(() => runMachine({} as never, { model })).toThrow('createMachine');
  });

  test('each leaf may have a different model', async () => {
    const machine = make();
    const models = {
      root: scriptedModel([{ toolName: 'transition_hire' }, 'Done.']),
      worker: scriptedModel(['Found.']),
    };
    const result = await runMachineToCompletion(machine, {
      model: ({ node: name }) => models[name as 'root' | 'worker'],
      input: 'Go.',
    });
    expect(result).toMatchObject({ response: 'Done.', yieldReason: 'end_turn', suspended: [] });
    expect(models.worker.requests).toHaveLength(1);
  });
});

describe('the request of each leaf', () => {
  test('[M20] every call directly followed by its result, in every request', async () => {
    const machine = make();
    let asked = 0;
    const script = (request: Asked) => {
      if (systemOf(request) === 'root') return [LOOK, { toolName: 'transition_both' }, { toolName: 'nope' }];
      return ++asked < 9 ? [LOOK, { toolName: 'look', input: { bad: 1 } }] : 'Done.';
    };
    const { requests } = await run(machine, script, { input: 'Go.' });
    expect(requests.length).toBeGreaterThan(6);
    expect(requests.map(problemOf).filter((problem) => problem !== undefined)).toEqual([]);
  });

  test("[M20] a worker's messages reach others only by cede", async () => {
    const machine = make();
    const script = (request: Asked) => {
      const [system, shown] = [systemOf(request), texts(request)];
      if (system === 'root') return { toolName: 'transition_both' };
      if (system === 'talker') return shown.length < 9 ? LOOK : 'Over.';
      return shown.length < 4 ? { text: 'secret thought', calls: [LOOK] } : 'public result';
    };
    const { requests } = await run(machine, script, { input: 'user says' });
    const of = (system: string) =>
      requests.filter((request) => systemOf(request) === system).map((request) => texts(request).join('\n'));
    expect(of('talker').join('\n')).not.toContain('secret thought');
    expect(of('worker').join('\n')).not.toContain('user says');
    expect(of('talker').at(-1)).toContain('public result');
  });

  test('[M17] leaves of a step act in parallel: a slow worker does not delay the requests of others', async () => {
    const machine = make();
    const talkerAsked = Promise.withResolvers<void>();
    const script = (request: Asked) => {
      if (systemOf(request) === 'root') return { toolName: 'transition_both' };
      if (systemOf(request) === 'worker') return talkerAsked.promise.then(() => 'Found.');
      talkerAsked.resolve();
      return 'Hello.';
    };
    const { steps } = await run(machine, script, { input: 'Go.' });
    expect(steps[1]?.leaves.map(({ node: name, yieldReason }) => [name, yieldReason])).toEqual([
      ['worker', 'cede'],
      ['talker', 'end_turn'],
    ]);
    expect(steps[1]).toMatchObject({ yieldReason: 'end_turn', response: 'Hello.', done: true });
  });
});

describe('the log', () => {
  test('[M22] the concatenated step logs are the full history', async () => {
    const machine = make();
    const script = (request: Asked) => {
      const [system, shown] = [systemOf(request), texts(request)];
      if (system === 'root' && shown.length === 2) return [LOOK, { toolName: 'transition_hire' }];
      return system === 'worker' && shown.length === 2 ? LOOK : 'Done.';
    };
    const { steps } = await run(machine, script, { input: 'Go.' });
    const { steps: silent } = await run(machine, [], { input: { role: 'user', content: 'psst', silent: true } });
    const { steps: more } = await run(machine, script, { input: 'Again.' });
    const told = [...steps, ...silent, ...more].flatMap(({ entries }) => entries);
    expect(told).toEqual(machine.history);
    expect(told.filter(({ kind }) => kind === 'message').map(({ instanceId }) => instanceId)).toEqual([
      'root',
      'root.1',
      'root',
      'root',
      'root',
    ]);
    const calls = told.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : []));
    const ends = told.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement.callId] : []));
    expect(ends).toEqual(calls);
  });

  test('[M22] every change of the tree is in it', async () => {
    const machine = createMachine(
      charter({
        nodes: {
          a: node({
            instructions: 'a',
            state: z.object({ n: z.number() }),
            initialState: { n: 0 },
            transitions: { go: { description: 'G.', handler: () => to('a', { n: 5 }) } },
          }),
        },
      }),
      { root: 'a' },
    );
    await run(machine, [[{ toolName: 'updateState', input: { n: 1 } }, { toolName: 'transition_go' }], 'Ok.'], {
      input: 'Go.',
    });
    expect(machine.history.filter(({ kind }) => kind === 'patched' || kind === 'moved')).toEqual([
      {
        kind: 'patched',
        instanceId: 'root',
        node: 'a',
        target: { kind: 'instance', id: 'root' },
        set: { n: 1 },
        unset: [],
      },
      { kind: 'moved', instanceId: 'root', node: 'a', to: 'a' },
    ]);
  });
});

describe('the step budget', () => {
  test('[M23] used up: a last step with reason max_steps, not an exception', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, () => LOOK, { input: 'Go.', maxSteps: 3 });
    expect(reasons(steps)).toEqual(['tool_use', 'tool_use', 'tool_use', 'max_steps']);
    expect(steps.map(({ done }) => done)).toEqual([false, false, false, true]);
    expect(requests).toHaveLength(3);
    const { steps: more } = await run(machine, ['Done.']);
    expect(more).toMatchObject([{ yieldReason: 'end_turn', response: 'Done.', done: true }]);
  });

  test('[M23] a turn that ends with the last allowed step does not stop with max_steps', async () => {
    const { steps } = await run(make(), [LOOK, 'Done.'], { input: 'Go.', maxSteps: 2 });
    expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
  });

  test('[M23] the default is 50', async () => {
    const { steps } = await run(make(), () => LOOK, { input: 'Go.' });
    expect(steps).toHaveLength(51);
    expect(steps.at(-1)?.yieldReason).toBe('max_steps');
  });
});
