import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { TerminatingContract } from '../../src/contract/terminating.ts';
import {
  createSession,
  fail,
  MaxConsecutiveNudgesExceeded,
  MaxInvocationsExceeded,
  runTurn,
  Transcript,
  type TurnEvent,
  tool,
} from '../../src/index.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { note, notes } from './noting.ts';

const none = z.object({});
const complete = tool({
  description: 'Completes the task.',
  id: 'c3b3bbf3-92fc-4ce6-b483-489c0b01ffa2',
  inputSchema: z.object({ result: z.string() }),
  execute: ({ result }) => (result === 'bad' ? fail('not that') : `Task completed: ${result}`),
});
const giveUp = tool({ description: 'Gives up.', inputSchema: none, terminal: true, execute: () => 'given up' });
const tools = { note, complete, giveUp };
const noted = (what: string) => ({ toolName: 'note', input: { what } });
const completed = (result: string) => ({ toolName: 'complete', input: { result } });
const ended = { reason: 'end_turn', by: 'terminating', tool: 'complete' };
const NUDGE =
  'You are currently in an autonomous execution mode with no user interaction. You must complete your task by calling one of the terminating tools.';

function run(replies: readonly ScriptedReply[], terminating: Partial<TerminatingContract> = {}, more: object = {}) {
  const model = scriptedModel(replies);
  const session = createSession({ slices: [notes] });
  const running = runTurn({
    model,
    tools,
    session,
    prompt: 'Do it.',
    terminating: { toolIds: ['complete'], ...terminating },
    ...more,
  });
  return { model, session, running };
}
const rolesOf = (request: LanguageModelV4CallOptions | undefined): string[] | undefined =>
  request?.prompt.map(({ role }) => role);
const lastOf = (request: LanguageModelV4CallOptions | undefined) => request?.prompt.at(-1);

test.each([
  ['its name', 'complete'],
  ['its id', 'c3b3bbf3-92fc-4ce6-b483-489c0b01ffa2'],
])('[R15] a tool is listed by %s', async (_how, id) => {
  const { running } = run([[completed('x')]], { toolIds: [id] });
  expect(await running).toMatchObject({ response: 'Task completed: x', stop: ended });
});

test('[R15] an entry that is not a tool of the run is refused before any model call, naming it', async () => {
  const { model, running } = run([[completed('x')]], { toolIds: ['complete', 'compleat'] });
  await expect(running).rejects.toMatchObject({
    code: 'options',
    field: 'terminating.toolIds',
    message: expect.stringContaining('"compleat"'),
  });
  await expect(run([], { toolIds: ['complete'] }, { tools: {} }).running).rejects.toThrow('"complete"');
  expect(model.requests).toHaveLength(0);
});

test('[R15] a step may leave a listed tool out, and it ends the run in steps that offer it', async () => {
  const { running, model } = run(
    [[noted('a')], [completed('x')], [completed('y')]],
    {},
    {
      tools: ({ step }: { step: number }) => (step === 2 ? { note } : tools),
    },
  );
  expect(await running).toMatchObject({ response: 'Task completed: y', stop: ended, steps: 3 });
  expect(model.requests[1]?.tools).toHaveLength(1);
});

test('[R16] the first listed call that succeeds ends the run; earlier calls have run, later ones do not', async () => {
  const { running, session, model } = run([
    [noted('a'), completed('bad'), completed('x'), noted('b'), completed('y'), { toolName: 'nobody' }],
  ]);
  const { response, output, stop, settlements } = await running;
  expect({ response, output, stop }).toEqual({
    response: 'Task completed: x',
    output: 'Task completed: x',
    stop: ended,
  });
  expect(settlements.map(({ outcome }) => outcome.status)).toEqual([
    'ok',
    'error',
    'ok',
    'skipped',
    'skipped',
    'skipped',
  ]);
  expect(session.read(notes)).toEqual(['a']);
  expect(model.requests).toHaveLength(1);
});

function shownCalls(transcript: Transcript): string[] {
  return transcript
    .view()
    .flatMap((message) =>
      message.role === 'assistant'
        ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []))
        : [],
    );
}
function shownResults(transcript: Transcript) {
  return transcript
    .view()
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .flatMap((part) => (part.type === 'tool-result' ? [part] : []));
}

test('[R16] by default the view keeps only the calls that ran, each with its result; the transcript keeps all', async () => {
  const { running } = run([{ text: 'Now.', calls: [noted('a'), completed('x'), noted('b'), noted('c')] }]);
  const { transcript } = await running;
  for (const one of [transcript, Transcript.fromJSON(JSON.stringify(transcript))]) {
    expect(shownCalls(one)).toEqual(['note', 'complete']);
    expect(shownResults(one).map(({ output }) => output)).toEqual([
      { type: 'text', value: 'noted a' },
      { type: 'text', value: 'Task completed: x' },
    ]);
    expect(one.entries.find((entry) => entry.kind === 'reply')?.calls).toHaveLength(4);
    expect(one.entries.filter((entry) => entry.kind === 'settled')).toHaveLength(4);
    expect(one.view()[1]).toMatchObject({ content: [{ type: 'text', text: 'Now.' }, {}, {}] });
  }
});

test('[R16] the next turn uses the trimmed view', async () => {
  const { running } = run([[completed('x'), noted('b')]]);
  const { transcript } = await running;
  const model = scriptedModel(['Hello.']);
  await runTurn({ model, tools, transcript, prompt: 'And now?' });
  const [request] = model.requests;
  expect(JSON.stringify(request?.prompt)).not.toContain('"note"');
  expect(rolesOf(request)?.slice(-4)).toEqual(['user', 'assistant', 'tool', 'user']);
});

test.each([
  ['keep', { history: 'keep' as const }],
  ['trim', { history: 'trim' as const }],
  ['keep, by default', {}],
])('[R16] without a contract the history option applies: %s', async (kept, batch) => {
  const model = scriptedModel([[{ toolName: 'giveUp' }, { toolName: 'giveUp' }, noted('b')]]);
  const { transcript } = await runTurn({ prompt: 'Go.', model, tools, batch });
  expect(shownCalls(transcript)).toEqual(kept === 'trim' ? ['giveUp'] : ['giveUp', 'giveUp', 'note']);
});

test("[R16] with history 'keep' the other calls are shown as skipped", async () => {
  const { transcript } = await run([[completed('x'), noted('b')]], {}, { batch: { history: 'keep' } }).running;
  expect(shownCalls(transcript)).toEqual(['complete', 'note']);
  expect(shownResults(transcript)[1]).toMatchObject({
    output: { type: 'error-text', value: expect.stringContaining('Skipped') },
  });
});

test.each(['on a call that ran', 'on one that did not', 'on its reasoning'])(
  '[R16] if the reply has provider metadata (%s), nothing is trimmed, and the other calls are shown as skipped',
  async (where) => {
    const providerMetadata = { google: { thoughtSignature: 'abc' } };
    const call = (toolName: string, input: object, marked: boolean) => ({
      type: 'tool-call' as const,
      toolCallId: toolName,
      toolName,
      input: JSON.stringify(input),
      ...(marked ? { providerMetadata } : {}),
    });
    const reasoning = {
      type: 'reasoning' as const,
      text: 'hm',
      ...(where === 'on its reasoning' ? { providerMetadata } : {}),
    };
    const { running } = run([
      {
        content: [
          reasoning,
          call('complete', { result: 'x' }, where === 'on a call that ran'),
          call('note', { what: 'b' }, where === 'on one that did not'),
        ],
      },
    ]);
    const { transcript, response } = await running;
    expect(response).toBe('Task completed: x');
    expect(shownCalls(transcript)).toEqual(['complete', 'note']);
    expect(shownResults(transcript)[1]).toMatchObject({
      toolName: 'note',
      output: { type: 'error-text', value: expect.stringContaining('Skipped') },
    });
    expect(JSON.stringify(transcript.view())).toContain('thoughtSignature');
  },
);

test('[R16] under a contract a terminal tool that is not listed is a plain tool', async () => {
  const { running, session } = run([[{ toolName: 'giveUp' }, noted('a'), { toolName: 'giveUp' }], [completed('x')]]);
  const { stop, settlements } = await running;
  expect(stop).toEqual(ended);
  expect(settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'ok', 'ok', 'ok']);
  expect(session.read(notes)).toEqual(['a']);
});

test('[R17] a listed tool that fails does not end the run: the model sees the error and goes on', async () => {
  const { running, model } = run([[completed('bad')], [{ toolName: 'complete', input: {} }], [completed('good')]]);
  expect(await running).toMatchObject({ response: 'Task completed: good', stop: ended, steps: 3 });
  expect(JSON.stringify(lastOf(model.requests[1]))).toContain('not that');
});

test('[R18] a reply without calls is answered by the nudge as a system message, and the model is asked again', async () => {
  const events: TurnEvent[] = [];
  const { running, model } = run(
    ['Thinking.', [completed('x')]],
    {},
    { onEvent: (event: TurnEvent) => events.push(event) },
  );
  expect(await running).toMatchObject({ stop: ended, steps: 2 });
  expect(rolesOf(model.requests[1])).toEqual(['user', 'assistant', 'system']);
  expect(lastOf(model.requests[1])).toEqual({ role: 'system', content: NUDGE });
  expect(events.filter(({ type }) => type === 'nudge')).toEqual([{ type: 'nudge', step: 1, text: NUDGE }]);
});

test('[R18] above consecutiveNudges the run fails with MaxConsecutiveNudgesExceeded', async () => {
  for (const [consecutiveNudges, asked] of [
    [undefined, 2],
    [0, 1],
    [3, 4],
  ] as const) {
    const { running, model } = run(
      Array.from({ length: 9 }, () => 'No.'),
      consecutiveNudges === undefined ? {} : { consecutiveNudges },
    );
    const error = await running.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MaxConsecutiveNudgesExceeded);
    expect((error as Error).message).toBe('Max consecutive nudges exceeded');
    expect(model.requests).toHaveLength(asked);
  }
});

test.each([
  ['by name', () => Object.assign(new Error('no'), { name: 'AI_UnsupportedFunctionalityError' })],
  [
    'with a 400',
    () => Object.assign(new Error('no'), { name: 'AI_APICallError', statusCode: 400, isRetryable: false }),
  ],
])(
  '[R18] a provider that refuses a system message there (%s) gets the nudge as a user message',
  async (_how, refusal) => {
    const refusing = (reply: ScriptedReply) => (request: LanguageModelV4CallOptions) =>
      request.prompt.slice(1).some(({ role }) => role === 'system') ? refusal() : reply;
    for (const onEvent of [undefined, () => {}]) {
      const { running, model } = run(
        [refusing('Hm.'), refusing('Hm.'), refusing([noted('a')]), refusing([completed('x')])],
        {},
        {
          ...(onEvent === undefined ? {} : { onEvent }),
          messages: [{ role: 'system', content: 'You are terse.' }],
          modelRetries: 0,
        },
      );
      expect(await running).toMatchObject({ stop: ended, steps: 3 });
      expect(lastOf(model.requests[1])).toEqual({ role: 'system', content: NUDGE });
      expect(lastOf(model.requests[2])).toEqual({ role: 'user', content: [{ type: 'text', text: NUDGE }] });
      // The format is remembered: the next step is not refused first. The first message stays unchanged.
      expect(model.requests).toHaveLength(4);
      expect(model.requests[3]?.prompt[0]).toEqual({ role: 'system', content: 'You are terse.' });
    }
  },
);

test('[R18] a provider that refuses for another reason is not retried for ever', async () => {
  const refusal = Object.assign(new Error('bad request'), { statusCode: 400 });
  const { running, model } = run(['Hm.', refusal, refusal, refusal]);
  await expect(running).rejects.toBe(refusal);
  expect(model.requests).toHaveLength(3);
});

test('[R19] any tool call, also a failing one, resets the counter', async () => {
  const { running } = run([
    'one',
    [noted('a')],
    'two',
    [{ toolName: 'nobody' }],
    'three',
    [completed('bad')],
    'four',
    [completed('x')],
  ]);
  expect(await running).toMatchObject({ stop: ended, steps: 8 });
});

test('[R19] without a call in between the counter continues', async () => {
  const { running } = run(['one', [noted('a')], 'two', 'three', [completed('x')]]);
  await expect(running).rejects.toThrow('Max consecutive nudges exceeded');
});

test('[R20] the default nudge message is exactly the specified one; another may be given', async () => {
  const standard = run(['Hm.', [completed('x')]]);
  await standard.running;
  expect(lastOf(standard.model.requests[1])?.content).toBe(NUDGE);
  const own = run(['Hm.', [completed('x')]], { nudgeMessage: 'Remember: call the tool.' });
  await own.running;
  expect(lastOf(own.model.requests[1])?.content).toBe('Remember: call the tool.');
});

test('[R21] the model is invoked at most maxInvocations times, nudged invocations included', async () => {
  for (const [replies, max] of [
    [[[noted('a')], [noted('b')], [noted('c')]], 3],
    [['text', [noted('a')], 'text'], 3],
    [[[noted('a')]], 1],
  ] as const) {
    const { running, model } = run([...(replies as readonly ScriptedReply[]), [completed('never')]], {
      maxInvocations: max,
    });
    const error = await running.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MaxInvocationsExceeded);
    expect((error as Error).message).toBe('Max invocations exceeded');
    expect(model.requests).toHaveLength(max);
  }
});

test('[R21] the listed tool in the last invocation allowed still ends the run', async () => {
  expect(await run([[noted('a')], [completed('x')]], { maxInvocations: 2 }).running).toMatchObject({ stop: ended });
});

test('[R21] by default it is invoked 64 times', async () => {
  const { running, model } = run(Array.from({ length: 70 }, () => [noted('a')]));
  await expect(running).rejects.toThrow('Max invocations exceeded');
  expect(model.requests).toHaveLength(64);
});

test.each([
  ['max_invocations', [[noted('a')], [noted('b')]], { maxInvocations: 2 }, MaxInvocationsExceeded],
  ['max_nudges', [[noted('a')], [noted('b')], 'No.'], { consecutiveNudges: 0 }, MaxConsecutiveNudgesExceeded],
])(
  '[R21] the error of %s has stop and transcript, and finished work is not lost',
  async (reason, replies, contract, type) => {
    const events: TurnEvent[] = [];
    const { running, session } = run(replies as ScriptedReply[], contract, {
      onEvent: (event: TurnEvent) => events.push(event),
    });
    const error = (await running.catch((thrown: unknown) => thrown)) as MaxInvocationsExceeded;
    expect(error).toBeInstanceOf(type);
    expect(error.stop).toEqual({ reason });
    expect(events.at(-1)).toEqual({ type: 'turn.end', stop: { reason } });
    expect(session.read(notes)).toEqual(['a', 'b']);
    expect(error.transcript.entries.filter((entry) => entry.kind === 'settled')).toHaveLength(2);
    const stored = Transcript.fromJSON(JSON.stringify(error.transcript));
    const model = scriptedModel([[completed('at last')]]);
    const next = await runTurn({
      model,
      tools,
      session,
      transcript: stored,
      prompt: 'Finish it.',
      terminating: { toolIds: ['complete'] },
    });
    expect(next).toMatchObject({ response: 'Task completed: at last', stop: ended, steps: 1 });
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('noted b');
  },
);

test.each<[string, unknown]>([
  ['terminating', null],
  ['terminating', 'complete'],
  ['terminating.toolIds', { toolIds: [] }],
  ['terminating.toolIds', {}],
  ['terminating.toolIds', { toolIds: 'complete' }],
  ['terminating.toolIds', { toolIds: [1] }],
  ['terminating.toolIds', { toolIds: [''] }],
  ['terminating.consecutiveNudges', { toolIds: ['complete'], consecutiveNudges: -1 }],
  ['terminating.consecutiveNudges', { toolIds: ['complete'], consecutiveNudges: 0.5 }],
  ['terminating.consecutiveNudges', { toolIds: ['complete'], consecutiveNudges: '1' }],
  ['terminating.consecutiveNudges', { toolIds: ['complete'], consecutiveNudges: Number.NaN }],
  ['terminating.maxInvocations', { toolIds: ['complete'], maxInvocations: 0 }],
  ['terminating.maxInvocations', { toolIds: ['complete'], maxInvocations: -5 }],
  ['terminating.maxInvocations', { toolIds: ['complete'], maxInvocations: 1.5 }],
  ['terminating.maxInvocations', { toolIds: ['complete'], maxInvocations: Number.POSITIVE_INFINITY }],
  ['terminating.nudgeMessage', { toolIds: ['complete'], nudgeMessage: '' }],
  ['terminating.nudgeMessage', { toolIds: ['complete'], nudgeMessage: 5 }],
])('[R22] %s is refused with its name: %j', async (field, terminating) => {
  const model = scriptedModel([[completed('x')]]);
  await expect(runTurn({ prompt: 'Go.', model, tools, terminating: terminating as never })).rejects.toMatchObject({
    code: 'options',
    field,
    message: expect.stringContaining(`"${field}"`),
  });
  expect(model.requests).toHaveLength(0);
});
