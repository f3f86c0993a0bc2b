import { pending, tool } from '@lastcall/core';
import { fakeClock, scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  cede,
  charter,
  createMachine,
  deserializeMachine,
  type MachineStep,
  node,
  runMachineToCompletion,
  serializeMachine,
  spawn,
  suspend,
  to,
} from '../../src/index.ts';
import { type Asked, outcomes, problemOf, reasons, run, systemOf, texts } from '../kit.ts';

const paid: unknown[] = [];
const ask = {
  description: 'Asks somebody.',
  inputSchema: z.object({ question: z.string() }),
  handler: ({ question }: { question: string }) => suspend({ question }),
};
const tools = {
  pay: tool({
    description: 'Pays.',
    inputSchema: z.object({ sum: z.number() }),
    approval: true,
    execute: ({ sum }) => paid.push(sum),
  }),
  job: tool({ description: 'A long job.', inputSchema: z.object({}), execute: () => pending({ display: 'job 7' }) }),
  brief: tool({
    description: 'Waits a while.',
    inputSchema: z.object({}),
    execute: () => pending({ expiresInMs: 100 }),
  }),
  answer: tool({ description: 'Answers.', inputSchema: z.object({}), terminal: true, execute: () => 'the answer' }),
  look: tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' }),
};
const worker = node({ instructions: 'worker', worker: true, tools, transitions: { ask } });
const other = node({ instructions: 'other' });
const root = node({
  instructions: 'root',
  state: z.object({ n: z.number() }),
  initialState: { n: 0 },
  tools,
  transitions: {
    ask,
    other,
    hire: { description: 'Hires.', handler: () => spawn(worker) },
    two: { description: 'Two.', handler: () => spawn([worker, 'talker']) },
  },
  commands: { away: { execute: () => to('other') } },
});
const talker = node({ instructions: 'talker', tools, transitions: { ask } });
const make = () => createMachine(charter({ nodes: { root, worker, talker, other } }), { root });
const ASK = { toolName: 'transition_ask', input: { question: 'ok?' } };
const last = (steps: readonly MachineStep[]) => steps.at(-1)?.suspended ?? [];

describe('suspended', () => {
  test('[M24] all leaves suspended: awaiting_resume with ids and reasons, no model call', async () => {
    const machine = make();
    const { steps, requests } = await run(machine, [ASK], { input: 'Go.' });
    expect(reasons(steps)).toEqual(['suspend', 'awaiting_resume']);
    expect(steps[1]).toMatchObject({
      done: true,
      suspended: [{ instanceId: 'root', kind: 'result', reason: { question: 'ok?' } }],
    });
    expect(requests).toHaveLength(1);
    const { steps: again, requests: none } = await run(machine, [], { input: 'Hello?' });
    expect(reasons(again)).toEqual(['awaiting_resume']);
    expect(again[0]?.suspended).toEqual(steps[1]?.suspended);
    expect(none).toHaveLength(0);
  });

  test('[M24] a wrong id fails and changes nothing', async () => {
    const machine = make();
    await run(machine, [ASK], { input: 'Go.' });
    const before = machine.tree;
    for (const id of ['root:nope', '', 'root', 'toString']) {
      expect(() => machine.resume(id, 'x')).toThrow(
        `Nothing waits under the id ${JSON.stringify(id)}. What waits: root:`,
      );
    }
    expect(machine.tree).toBe(before);
    expect(() => make().resume('root:call-1')).toThrow('Nothing waits.');
  });

  test('[M24] a payload that is not plain data, or not a decision where approval is needed, fails and changes nothing', async () => {
    const machine = make();
    await run(machine, [[ASK, { toolName: 'pay', input: { sum: 5 } }]], { input: 'Go.' });
    const before = machine.tree;
    const [asking, paying] = [
      machine.suspended.find(({ kind }) => kind === 'result'),
      machine.suspended.find(({ kind }) => kind === 'approval'),
    ];
    expect(() => machine.resume(asking?.id ?? '', () => {})).toThrow('plain data');
    for (const payload of ['yes', false, {}, { approve: false }])
      expect(() => machine.resume(paying?.id ?? '', payload)).toThrow('waits to be allowed');
    expect(machine.tree).toBe(before);
  });

  test('[M24] while one leaf waits, the others continue', async () => {
    const machine = make();
    const script = (request: Asked) => {
      if (systemOf(request).startsWith('root')) return { toolName: 'transition_two' };
      if (systemOf(request).startsWith('worker')) return ASK;
      return texts(request).length < 8 ? { toolName: 'look' } : 'Here.';
    };
    const { steps } = await run(machine, script, { input: 'Go.' });
    expect(reasons(steps)).toEqual(['transition', 'tool_use', 'tool_use', 'end_turn', 'awaiting_resume']);
    expect(steps[3]?.response).toBe('Here.');
    expect(last(steps)).toMatchObject([{ instanceId: 'root.1', node: 'worker' }]);
  });
});

describe('resumed', () => {
  test("[M25] it continues without another user message; the suspended call's result is the payload", async () => {
    const machine = make();
    const first = await run(machine, [ASK], { input: 'Go.' });
    machine.resume(last(first.steps)[0]?.id ?? '', { answer: 'yes' });
    const { steps, requests } = await run(machine, ['Then it is done.']);
    expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
    expect(outcomes(steps)).toEqual([['transition_ask', 'ok', '{"answer":"yes"}']]);
    expect(texts(requests[0]).slice(1)).toEqual(['user: Go.', 'assistant: transition_ask()', 'tool: {"answer":"yes"}']);
    expect(machine.suspended).toEqual([]);
    expect(machine.history.filter(({ kind }) => kind === 'resumed')).toHaveLength(1);
  });

  test('[M25] messages queued meanwhile are kept, and come after the result', async () => {
    const machine = make();
    const first = await run(machine, [ASK], { input: 'Go.' });
    await run(machine, [], { input: 'Are you there?' });
    expect(machine.tree.queue).toHaveLength(1);
    machine.resume(last(first.steps)[0]?.id ?? '', 'yes');
    machine.enqueue('And now?');
    const { requests, steps } = await run(machine, ['Now it is done.']);
    expect(texts(requests[0]).slice(-3)).toEqual(['tool: yes', 'user: Are you there?', 'user: And now?']);
    expect(steps.at(-1)).toMatchObject({ response: 'Now it is done.', done: true });
    expect(machine.tree.queue).toEqual([]);
  });

  test('[M25] a call may be named by its own id, and an empty payload is valid', async () => {
    const machine = make();
    await run(machine, [ASK], { input: 'Go.' });
    machine.resume(machine.suspended[0]?.callId ?? '');
    const { steps } = await run(machine, ['Fine.']);
    expect(outcomes(steps)[0]?.[1]).toBe('ok');
  });

  test('[M25] an answered call does not wait any more', async () => {
    const machine = make();
    await run(machine, [ASK], { input: 'Go.' });
    const id = machine.suspended[0]?.id ?? '';
    machine.resume(id, 'yes');
    expect(() => machine.resume(id, 'no')).toThrow('Nothing waits');
    await run(machine, ['Fine.']);
    expect(() => machine.resume(id, 'no')).toThrow('Nothing waits');
  });

  test('[M25] several waiting calls each get their own answer, in any order', async () => {
    const machine = make();
    const batch = [{ toolName: 'job' }, ASK, { toolName: 'job' }];
    await run(machine, [batch], { input: 'Go.' });
    const [one, two, three] = machine.suspended;
    // A transition runs last, wherever the model wrote it; results are in the order of the calls.
    expect(machine.suspended.map(({ reason }) => reason)).toEqual(['job 7', 'job 7', { question: 'ok?' }]);
    machine.resume(two?.id ?? '', 'second');
    const { steps } = await run(machine, []);
    expect(reasons(steps)).toEqual(['suspend', 'awaiting_resume']);
    machine.resume(three?.id ?? '', 'third');
    machine.resume(one?.id ?? '', 'first');
    const { steps: rest, requests } = await run(machine, ['All there.']);
    expect(rest.at(-1)?.response).toBe('All there.');
    expect(texts(requests[0]).at(-1)).toBe('tool: first | third | second');
  });

  test('[M25] a call that needs approval runs once it is approved, or says why it was denied', async () => {
    paid.length = 0;
    const machine = make();
    await run(
      machine,
      [
        [
          { toolName: 'pay', input: { sum: 5 } },
          { toolName: 'pay', input: { sum: 7 } },
        ],
      ],
      { input: 'Go.' },
    );
    const [five, seven] = machine.suspended;
    machine.resume(five?.id ?? '', true);
    machine.resume(seven?.id ?? '', { deny: 'too much' });
    const { steps } = await run(machine, ['Paid.']);
    expect(paid).toEqual([5]);
    expect(outcomes(steps).map(([, status]) => status)).toEqual(['ok', 'error']);
  });

  test('[M25] a worker continues where it was', async () => {
    const machine = make();
    await run(machine, [{ toolName: 'transition_hire' }, ASK], { input: 'Go.' });
    expect(machine.suspended).toMatchObject([{ instanceId: 'root.1' }]);
    machine.resume(machine.suspended[0]?.id ?? '', 'granted');
    const { steps, requests } = await run(machine, ['Worker is done.', 'So am I.']);
    expect(reasons(steps)).toEqual(['tool_use', 'cede', 'end_turn']);
    expect(texts(requests[0]).at(-1)).toBe('tool: granted');
  });

  test('[M25] a suspended transition beside a terminal tool still counts, and the tool gives no response', async () => {
    const machine = make();
    const { steps } = await run(machine, [[{ toolName: 'answer' }, ASK]], { input: 'Go.' });
    expect(reasons(steps)).toEqual(['suspend', 'awaiting_resume']);
    expect(steps[0]).not.toHaveProperty('response');
    machine.resume(machine.suspended[0]?.id ?? '', 'yes');
    const { steps: more, requests } = await run(machine, ['Good.']);
    expect(more.at(-1)?.response).toBe('Good.');
    expect(requests.map(problemOf)).toEqual([undefined]);
  });

  test('[M25] a plain call that waits beside a terminal tool does not hold the response back, and is answered later', async () => {
    const machine = make();
    const { steps } = await run(machine, [[{ toolName: 'job' }, { toolName: 'answer' }]], { input: 'Go.' });
    expect(steps).toMatchObject([
      { yieldReason: 'end_turn', response: 'the answer', done: true, suspended: [{ toolName: 'job' }] },
    ]);
    machine.resume(machine.suspended[0]?.id ?? '', 'job done');
    const { requests, steps: more } = await run(machine, ['The job is done too.']);
    expect(texts(requests[0]).at(-1)).toContain('job done');
    expect(more.at(-1)?.response).toBe('The job is done too.');
    expect(machine.suspended).toEqual([]);
  });

  test('[M25] a call that waits beside a transition goes on waiting', async () => {
    const machine = make();
    const { steps } = await run(machine, [[{ toolName: 'job' }, { toolName: 'transition_other' }], 'Other here.'], {
      input: 'Go.',
    });
    expect(reasons(steps)).toEqual(['transition', 'end_turn']);
    expect(machine.suspended).toMatchObject([{ toolName: 'job', node: 'other' }]);
  });

  test('[M24] a leaf that is aborted after one of its calls was answered still waits for the other, and no model is called', async () => {
    const helper = node({ instructions: 'helper', transitions: { back: { handler: () => cede('helped') } } });
    const boss = node({ instructions: 'boss', tools, commands: { help: { execute: () => spawn('helper') } } });
    const machine = createMachine(charter({ nodes: { boss, helper } }), { root: boss });
    const calls = [{ toolName: 'job' }, { toolName: 'pay', input: { sum: 7 } }];
    await run(machine, [calls], { input: 'Go.' });
    const [job, approval] = machine.suspended;
    // Another instance replies meanwhile, so the waiting calls are no longer those of the last reply.
    await machine.command('help');
    const helped = await run(machine, [{ toolName: 'transition_back' }], { input: 'Hello?' });
    expect(reasons(helped.steps)).toEqual(['cede', 'awaiting_resume']);
    machine.resume(approval?.id ?? '', { approve: true });
    const abort = new AbortController();
    const aborted = await run(machine, [], {
      signal: abort.signal,
      tools: (own) => ({ ...own, pay: { ...own.pay, execute: () => abort.abort() } as never }),
    });
    expect(aborted.steps).toMatchObject([{ yieldReason: 'error', leaves: [{ stop: { reason: 'aborted' } }] }]);
    const again = await run(machine, ['Not asked.']);
    expect(reasons(again.steps)).toEqual(['awaiting_resume']);
    expect(last(again.steps)).toMatchObject([{ id: job?.id, toolName: 'job' }]);
    expect([...aborted.requests, ...again.requests]).toEqual([]);
    machine.resume(job?.id ?? '', 'job done');
    const { steps, requests } = await run(machine, ['Both have ended.']);
    expect(requests.map(problemOf)).toEqual([undefined]);
    expect(texts(requests[0]).join()).toContain('job done');
    expect(steps.at(-1)?.response).toBe('Both have ended.');
  });

  test('[M24] [R44] an approval that is given to a run which is aborted holds in the next run, and the call runs once', async () => {
    const machine = make();
    await run(machine, [{ toolName: 'pay', input: { sum: 7 } }], { input: 'Go.' });
    machine.resume(machine.suspended[0]?.id ?? '', { approve: true });
    const abort = new AbortController();
    const aborted = await run(machine, [], {
      signal: abort.signal,
      tools(own) {
        abort.abort();
        return own;
      },
    });
    expect(aborted.steps).toMatchObject([{ yieldReason: 'error', leaves: [{ stop: { reason: 'aborted' } }] }]);
    expect(machine.suspended).toEqual([]);
    const { steps, requests } = await run(machine, ['Paid.']);
    expect(steps.flatMap(({ settlements }) => settlements)).toMatchObject([
      { toolName: 'pay', outcome: { status: 'ok' } },
    ]);
    expect(requests).toHaveLength(1);
    expect(steps.at(-1)?.response).toBe('Paid.');
  });

  test('[M25] a waiting call that expires fails, and the run continues', async () => {
    const clock = fakeClock();
    const machine = make();
    const first = await run(machine, [{ toolName: 'brief' }], { input: 'Go.', clock });
    expect(reasons(first.steps)).toEqual(['suspend', 'awaiting_resume']);
    await clock.advance(200);
    const { steps } = await run(machine, ['Too late.'], { clock });
    expect(reasons(steps)).toEqual(['tool_use', 'end_turn']);
    expect(steps[0]?.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'expired' });
    expect(machine.suspended).toEqual([]);
  });

  test('[M25] an instance that a command removes settles its waiting calls', async () => {
    const machine = make();
    await run(machine, [ASK], { input: 'Go.' });
    await machine.command('away');
    expect(machine.suspended).toEqual([]);
    const { requests } = await run(machine, ['Other here.'], { input: 'Hello?' });
    expect(requests.map(problemOf)).toEqual([undefined]);
    expect(texts(requests[0]).slice(-2)).toEqual([
      'tool: Cancelled: "root" (root) moved on to "other".',
      'user: Hello?',
    ]);
  });

  test('[M25] an instance that a command moves on while it waits is not asked before a message comes', async () => {
    const machine = make();
    await run(machine, [ASK], { input: 'Go.' });
    await machine.command('away');
    const { requests, steps } = await run(machine, []);
    expect(requests).toEqual([]);
    expect(reasons(steps)).toEqual(['end_turn']);
  });

  test('[M25] a worker that leaves with a call still waiting leaves none unsettled', async () => {
    const machine = make();
    const script = [{ toolName: 'transition_hire' }, [{ toolName: 'job' }, { toolName: 'answer' }], 'Done.'];
    await run(machine, script, { input: 'Go.' });
    expect(machine.suspended).toEqual([]);
    const ends = machine.history.flatMap((entry) =>
      entry.kind === 'settled' && entry.instanceId === 'root.1'
        ? [[entry.settlement.toolName, entry.settlement.outcome.status]]
        : [],
    );
    expect(ends).toEqual([
      ['answer', 'ok'],
      ['job', 'cancelled'],
    ]);
  });

  test('[M24] runMachineToCompletion returns the waiting calls', async () => {
    const result = await runMachineToCompletion(make(), { model: scriptedModel([ASK]), input: 'Go.' });
    expect(result).toMatchObject({
      response: '',
      yieldReason: 'awaiting_resume',
      suspended: [{ toolName: 'transition_ask' }],
    });
  });
});

test('[A17] an error as an answer is stored with the machine, and the call fails with it', async () => {
  const main = node({ instructions: 'Main.', tools });
  const made = charter({ nodes: { main } });
  const machine = createMachine(made, { root: 'main' });
  await run(machine, [{ toolName: 'job', input: {} }], { input: 'Go.' });
  const [{ callId = '' } = {}] = machine.suspended;
  expect(machine.answer(callId, { error: 'It broke.' })).toBe(true);
  const restored = deserializeMachine(made, JSON.stringify(serializeMachine(machine)));
  const { steps } = await run(restored, ['A pity.']);
  expect(steps.flatMap(({ settlements }) => settlements).map(({ outcome }) => outcome)).toMatchObject([
    { status: 'error', message: 'It broke.' },
  ]);
});

test.each([
  [undefined, 'it is left to the next run', ['ok']],
  ['end', 'it ends with the run, and nothing is left of it', ['error/aborted']],
] as const)(
  '[M25] an answer that comes when the run is aborted, with unusedAnswers %s: %s',
  async (unusedAnswers, _, ends) => {
    const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'Paid.' });
    const machine = createMachine(charter({ nodes: { n: node({ instructions: 'n', tools: { pay } }) } }), {
      root: 'n',
    });
    await run(machine, [{ toolName: 'pay' }], { input: 'Go.' });
    machine.answer(machine.suspended[0]?.callId ?? '', { approve: true });
    await run(machine, [], { signal: AbortSignal.abort(), ...(unusedAnswers && { unusedAnswers }) });
    await run(machine, ['Done.', 'Done.'], { input: 'And?' });
    const outcomes = machine.history.flatMap((entry) => (entry.kind === 'settled' ? entry.settlement.outcome : []));
    expect(outcomes.map((one) => ('code' in one ? `${one.status}/${one.code}` : one.status))).toEqual(ends);
  },
);
