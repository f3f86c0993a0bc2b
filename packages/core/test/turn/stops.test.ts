import { getEventListeners } from 'node:events';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  createBudget,
  createSession,
  fail,
  runTurn,
  type Stop,
  streamTurn,
  type ToolContext,
  Transcript,
  type TurnEvent,
  TurnFailed,
  type TurnOptions,
  tool,
} from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { note, notes } from './noting.ts';

const none = z.object({});
const answer = tool({ description: 'Answers.', inputSchema: none, terminal: true, execute: () => 'the answer' });
const noted = (what: string) => ({ toolName: 'note', input: { what } });
const probing = (execute: (ctx: ToolContext) => unknown, more: object = {}) =>
  tool({ description: 'd', inputSchema: none, execute: (_input, ctx) => execute(ctx), ...more });
const never = (): Promise<never> => new Promise(() => {});
const usage = (total: number) => ({
  inputTokens: { total, noCache: total, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 0, text: 0, reasoning: undefined },
});
const cut = (text: string): ScriptedReply => ({ text, finishReason: { unified: 'length', raw: 'max_tokens' } });
const outcomes = (settlements: readonly { outcome: { status: string; code?: string } }[]): string[] =>
  settlements.map(({ outcome }) => (outcome.code === undefined ? outcome.status : `${outcome.status}/${outcome.code}`));

/** Asserts that each call is followed directly by exactly one result, and has exactly one settlement or still waits. */
function expectValid(transcript: Transcript): void {
  const view = transcript.view();
  const asked = view.map((message) =>
    message.role === 'assistant'
      ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
      : [],
  );
  for (const [index, calls] of asked.entries()) {
    const next = view[index + 1];
    const given =
      next?.role === 'tool'
        ? next.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    if (calls.length > 0 || given.length > 0) expect(given).toEqual(calls);
  }
  const settledIds = transcript.entries.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement.callId] : []));
  const calledIds = transcript.entries.flatMap((entry) =>
    entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [],
  );
  expect([...settledIds].sort()).toEqual([...calledIds].sort());
}

type Given = Partial<TurnOptions> & { replies: readonly ScriptedReply[] };
const tools = { note, answer, leave: probing(() => 'left', { transition: true }) };
const stops: [string, () => Given, Stop][] = [
  ['text', () => ({ replies: ['Hi.'] }), { reason: 'end_turn', by: 'text' }],
  [
    'a terminal tool',
    () => ({ replies: [{ toolName: 'answer' }] }),
    { reason: 'end_turn', by: 'terminal', tool: 'answer' },
  ],
  [
    'a listed tool',
    () => ({ replies: [[noted('a')]], terminating: { toolIds: ['note'] } }),
    { reason: 'end_turn', by: 'terminating', tool: 'note' },
  ],
  [
    'a transition',
    () => ({ replies: [{ toolName: 'leave' }] }),
    { reason: 'transition', tool: 'leave', callId: expect.any(String) as never, value: 'left' },
  ],
  ['the cap', () => ({ replies: [[noted('a')], [noted('b')]], maxSteps: 2 }), { reason: 'max_steps' }],
  ['the deadline', () => ({ replies: [never], deadline: 1_001 }), { reason: 'deadline' }],
  [
    'the tokens',
    () => ({ replies: [[noted('a')]], budget: { tokens: 12 } }),
    { reason: 'budget', dimension: 'tokens' },
  ],
  [
    'the tool calls',
    () => ({ replies: [[noted('a'), noted('b')]], budget: { toolCalls: 1 } }),
    { reason: 'budget', dimension: 'toolCalls' },
  ],
  ['an abort', () => ({ replies: [], signal: AbortSignal.abort() }), { reason: 'aborted' }],
  ['length', () => ({ replies: [cut('a'), cut('b')] }), { reason: 'length' }],
  [
    'the content filter',
    () => ({ replies: [{ text: '', finishReason: { unified: 'content-filter', raw: undefined } }] }),
    { reason: 'content_filter' },
  ],
];
test.each(stops)('[R23] a turn that ends by %s has exactly one distinct stop', async (_what, given, stop) => {
  const { replies, ...options } = given();
  const clock = fakeClock();
  const events: TurnEvent[] = [];
  const running = runTurn({
    prompt: 'Go.',
    model: scriptedModel(replies),
    tools,
    session: createSession({ slices: [notes] }),
    clock,
    onEvent: (event) => events.push(event),
    ...options,
  });
  await settled();
  await clock.advance(1);
  const { stop: told, transcript } = await running;
  expect(told).toEqual(stop);
  expect(transcript.entries.filter((entry) => entry.kind === 'stop')).toEqual([{ kind: 'stop', stop }]);
  expect(transcript.entries.at(-1)?.kind).toBe('stop');
  expect(events.filter(({ type }) => type === 'turn.end')).toEqual([{ type: 'turn.end', stop }]);
  expect(events.at(-1)?.type).toBe('turn.end');
  expectValid(transcript);
  expect(clock.sleepers).toBe(0);
});

test('[R24] at maxSteps every call of the last batch has a settlement, and committed work is kept', async () => {
  const session = createSession({ slices: [notes] });
  const model = scriptedModel([[noted('a')], [noted('b'), { toolName: 'nobody' }, noted('c')]]);
  const { stop, settlements, transcript, steps } = await runTurn({ prompt: 'Go.', model, tools, session, maxSteps: 2 });
  expect({ stop, steps }).toEqual({ stop: { reason: 'max_steps' }, steps: 2 });
  expect(outcomes(settlements)).toEqual(['ok', 'ok', 'error/unknown_tool', 'ok']);
  expect(session.read(notes)).toEqual(['a', 'b', 'c']);
  expectValid(transcript);
});

test('[R24] by default there are 50 steps', async () => {
  const model = scriptedModel(() => [noted('a')]);
  const { stop, steps } = await runTurn({ prompt: 'Go.', model, tools, session: createSession({ slices: [notes] }) });
  expect({ stop, steps }).toEqual({ stop: { reason: 'max_steps' }, steps: 50 });
});

test('[R24] at the deadline every call of the last batch has a settlement, and later ones do not start', async () => {
  const clock = fakeClock();
  const session = createSession({ slices: [notes] });
  let started = 0;
  const running = runTurn({
    prompt: 'Go.',
    model: scriptedModel([[noted('a'), { toolName: 'deaf' }, noted('b'), { toolName: 'count' }]]),
    tools: { ...tools, deaf: probing(never), count: probing(() => void started++) },
    session,
    clock,
    deadline: 3_000,
  });
  await settled();
  await clock.advance(2_000);
  const { stop, settlements, transcript } = await running;
  expect(stop).toEqual({ reason: 'deadline' });
  expect(outcomes(settlements)).toEqual(['ok', 'error/timeout', 'error/timeout', 'error/timeout']);
  expect(started).toBe(0);
  expect(session.read(notes)).toEqual(['a']);
  expectValid(transcript);
});

test('[R24] a deadline that passes while a step is prepared: the model is not asked', async () => {
  const clock = fakeClock();
  const model = scriptedModel(['never']);
  const slowly = () => {
    void clock.advance(2_000);
    return tools;
  };
  expect((await runTurn({ prompt: 'Go.', model, tools: slowly, clock, deadline: 3_000 })).stop).toEqual({
    reason: 'deadline',
  });
  expect(model.requests).toHaveLength(0);
});

test('[R24] at the budget every call of the last batch has a settlement, and exactly the limit has run', async () => {
  const session = createSession({ slices: [notes] });
  const { stop, settlements, transcript } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[noted('a')], [noted('b'), noted('c'), noted('d')]]),
    tools,
    session,
    budget: { toolCalls: 2 },
  });
  expect(stop).toEqual({ reason: 'budget', dimension: 'toolCalls' });
  expect(outcomes(settlements)).toEqual(['ok', 'ok', 'error/budget', 'error/budget']);
  expect(session.read(notes)).toEqual(['a', 'b']);
  expectValid(transcript);
});

test('[R24] a tool that fails with the code "budget" uses up no budget: the turn continues', async () => {
  const poor = probing(() => fail('The customer has no money left.', { code: 'budget' }));
  const { stop } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([{ toolName: 'poor' }, 'I see.']),
    tools: { poor },
    budget: { toolCalls: 5 },
  });
  expect(stop).toEqual({ reason: 'end_turn', by: 'text' });
});

test('[R24] a budget that several turns share ends the next one before its first model call', async () => {
  const budget = createBudget({ tokens: 10 });
  await runTurn({ prompt: 'Go.', model: scriptedModel(['Hi.']), budget });
  const silent = scriptedModel([]);
  expect((await runTurn({ prompt: 'Go.', model: silent, budget })).stop).toEqual({
    reason: 'budget',
    dimension: 'tokens',
  });
  expect(silent.requests).toHaveLength(0);
});

/** A deadline of 2 s with a reserve of 0.5 s, and a tool that ignores its signal for 10 s. */
function deafRun(last: ScriptedReply, more: Partial<TurnOptions> = {}) {
  const clock = fakeClock();
  const session = createSession({ slices: [notes] });
  const late: unknown[] = [];
  const deaf = probing(async (ctx) => {
    await clock.sleep(10_000);
    try {
      ctx.session.dispatch({ type: 'noted', what: 'too late' });
    } catch (error) {
      late.push(error);
    }
    return 'done at last';
  });
  const model = scriptedModel([[{ toolName: 'deaf' }, noted('b')], last]);
  const running = runTurn({
    model,
    instructions: 'Be brief.',
    tools: { ...tools, deaf },
    session,
    clock,
    prompt: 'Go',
    deadline: 3_000,
    reserveMs: 500,
    ...more,
  });
  return { clock, session, model, running, late };
}

test('[R25] with a reserve the model gets one request without tool calls in time, even if a tool ignores its signal', async () => {
  const { clock, session, model, running, late } = deafRun('What I know is little.');
  await settled();
  await clock.advance(1_499);
  expect(model.requests).toHaveLength(1);
  await clock.advance(1);
  const { stop, response, settlements, transcript, steps } = await running;
  expect(clock.now()).toBe(2_500);
  expect({ stop, response, steps }).toEqual({
    stop: { reason: 'deadline' },
    response: 'What I know is little.',
    steps: 2,
  });
  expect(outcomes(settlements)).toEqual(['error/timeout', 'error/timeout']);
  expectValid(transcript);
  const [, last] = model.requests;
  expect(last?.toolChoice).toEqual({ type: 'none' });
  // T45: it may not call any tool, so its instructions list none.
  expect(last?.prompt[0]).toEqual({ role: 'system', content: 'Be brief.' });
  expect(last?.prompt.at(-1)?.role).toBe('user');
  const entries = transcript.entries.length;
  await clock.advance(10_000);
  expect(late).toHaveLength(1);
  expect(session.read(notes)).toEqual([]);
  expect(transcript.entries).toHaveLength(entries);
  expect(clock.sleepers).toBe(0);
});

test('[R25] a last request that takes too long is abandoned at the deadline', async () => {
  const { clock, running } = deafRun(never);
  await settled();
  await clock.advance(1_500);
  await clock.advance(499);
  let isOver = false;
  void running.then(() => (isOver = true));
  await settled();
  expect(isOver).toBe(false);
  await clock.advance(1);
  const { stop, response, transcript } = await running;
  expect({ stop, response }).toEqual({ stop: { reason: 'deadline' }, response: '' });
  expectValid(transcript);
});

test('[R25] a deadline that passed together with the reserve leaves no time: the model is not asked', async () => {
  const { clock, model, running } = deafRun('never said');
  await settled();
  await clock.advance(5_000);
  const { stop, transcript } = await running;
  expect(stop).toEqual({ reason: 'deadline' });
  expect(model.requests).toHaveLength(1);
  expect(transcript.entries.some(({ kind }) => kind === 'nudge')).toBe(false);
});

test('[R25] [R55] calls in the last reply are not run, each has its settlement, and the text is the answer', async () => {
  const { clock, session, running } = deafRun({ text: 'Little.', calls: [noted('x'), { toolName: 'answer' }] });
  await settled();
  await clock.advance(1_500);
  const { stop, response, settlements, transcript } = await running;
  expect({ stop, response }).toEqual({ stop: { reason: 'deadline' }, response: 'Little.' });
  expect(outcomes(settlements)).toEqual(['error/timeout', 'error/timeout', 'skipped', 'skipped']);
  expect(session.read(notes)).toEqual([]);
  expectValid(transcript);
});

test('[R55] the last request keeps the tools and forbids calling them, whatever the settings say', async () => {
  const { clock, model, running } = deafRun('Little.', { modelSettings: { toolChoice: { type: 'required' } } });
  await settled();
  await clock.advance(1_500);
  await running;
  const [first, last] = model.requests;
  expect(first?.toolChoice).toEqual({ type: 'required' });
  expect(last?.tools).toEqual(first?.tools);
  expect(last?.tools).not.toHaveLength(0);
  expect(last?.toolChoice).toEqual({ type: 'none' });
});

test('[R55] the last request of a turn without tools does not mention tools', async () => {
  const clock = fakeClock();
  const model = scriptedModel([never, 'In short: no.']);
  const running = runTurn({ model, prompt: 'Go.', clock, deadline: 3_000, reserveMs: 500 });
  await settled();
  await clock.advance(1_500);
  await running;
  expect(model.requests[1]).not.toHaveProperty('tools');
  expect(model.requests[1]).not.toHaveProperty('toolChoice');
});

test('[R25] the reserve is also kept if the model takes too long', async () => {
  const clock = fakeClock();
  const model = scriptedModel([never, 'In short: no.']);
  const running = runTurn({ prompt: 'Go.', model, tools, clock, deadline: 3_000, reserveMs: 500 });
  await settled();
  expect(model.requests[0]?.abortSignal?.aborted).toBe(false);
  await clock.advance(1_500);
  expect(model.requests[0]?.abortSignal?.aborted).toBe(true);
  expect(await running).toMatchObject({ response: 'In short: no.', stop: { reason: 'deadline' } });
});

test('[R21][R25] the last request is an invocation too: there is none above maxInvocations', async () => {
  const { clock, model, running } = deafRun('never said', { terminating: { toolIds: ['answer'], maxInvocations: 1 } });
  await settled();
  await clock.advance(1_500);
  expect(await running).toMatchObject({ response: '', stop: { reason: 'deadline' } });
  expect(model.requests).toHaveLength(1);
});

test('[R25][R42] the last request of a nested turn ends with the call', async () => {
  const clock = fakeClock();
  const abort = new AbortController();
  const inner = scriptedModel([never, never]);
  const ask = probing((ctx) => ctx.runTurn({ prompt: 'Go.', model: inner, deadline: 3_000, reserveMs: 500 }));
  const model = scriptedModel([{ toolName: 'ask' }]);
  const running = runTurn({ prompt: 'Go.', model, tools: { ask }, clock, signal: abort.signal });
  await settled();
  await clock.advance(1_500);
  expect(inner.requests[1]?.abortSignal?.aborted).toBe(false);
  abort.abort();
  expect(inner.requests[1]?.abortSignal?.aborted).toBe(true);
  expect((await running).stop).toEqual({ reason: 'aborted' });
});

test('[R25] an abort by the host during the last request ends the turn at once', async () => {
  const clock = fakeClock();
  const abort = new AbortController();
  const model = scriptedModel([never, never]);
  const running = runTurn({ prompt: 'Go.', model, clock, deadline: 3_000, reserveMs: 500, signal: abort.signal });
  await settled();
  await clock.advance(1_500);
  expect(model.requests).toHaveLength(2);
  let stop: Stop | undefined;
  void running.then((result) => {
    stop = result.stop;
  });
  abort.abort();
  await settled();
  expect(stop).toEqual({ reason: 'deadline' });
  expect(model.requests[1]?.abortSignal?.aborted).toBe(true);
});

test('[R25] a turn that begins within its token reserve asks the model once, as any other', async () => {
  const budget = createBudget({ tokens: 100 });
  budget.add('tokens', 95);
  const model = scriptedModel(['Hello.']);
  const { response, stop } = await runTurn({ prompt: 'Hi.', model, tools, budget, reserveTokens: 10 });
  expect([response, stop]).toEqual(['Hello.', { reason: 'end_turn', by: 'text' }]);
  expect(model.requests[0]?.toolChoice).toBeUndefined();
});

test('[R25] the last request leaves no timer and no listener behind', async () => {
  const clock = fakeClock();
  const { signal } = new AbortController();
  const model = scriptedModel([never, 'In short: no.']);
  const running = runTurn({ prompt: 'Go.', model, clock, deadline: 3_000, reserveMs: 500, signal });
  await settled();
  await clock.advance(1_500);
  expect((await running).response).toBe('In short: no.');
  await settled();
  expect([clock.sleepers, getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
});

test('[R25] without a reserve there is no last request', async () => {
  const clock = fakeClock();
  const model = scriptedModel([never]);
  const running = runTurn({ prompt: 'Go.', model, tools, clock, deadline: 3_000 });
  await settled();
  await clock.advance(2_000);
  expect(await running).toMatchObject({ response: '', stop: { reason: 'deadline' } });
  expect(model.requests).toHaveLength(1);
});

test('[R25] with a token reserve there is a last request in which no tool may be called, and the stop names the budget', async () => {
  const model = scriptedModel([
    { calls: [noted('a')], usage: usage(60) },
    { calls: [noted('b')], usage: usage(30) },
    'In short: two notes.',
  ]);
  const { stop, response, transcript } = await runTurn({
    prompt: 'Go.',
    model,
    tools,
    session: createSession({ slices: [notes] }),
    budget: { tokens: 100 },
    reserveTokens: 20,
  });
  expect({ stop, response }).toEqual({
    stop: { reason: 'budget', dimension: 'tokens' },
    response: 'In short: two notes.',
  });
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined, { type: 'none' }]);
  expectValid(transcript);
});

test('[R26] the host aborts during a tool: it settles aborted, later calls cancelled, and nothing is written later', async () => {
  const clock = fakeClock();
  const abort = new AbortController();
  const session = createSession({ slices: [notes] });
  const events: TurnEvent[] = [];
  let finish: (() => void) | undefined;
  let late: unknown;
  const deaf = probing(async (ctx) => {
    ctx.session.dispatch({ type: 'noted', what: 'half' });
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    ctx.progress('on and on');
    try {
      ctx.session.dispatch({ type: 'noted', what: 'too late' });
    } catch (error) {
      late = error;
    }
    return 'done';
  });
  const running = runTurn({
    prompt: 'Go.',
    model: scriptedModel([[noted('a'), { toolName: 'deaf' }, noted('b'), { toolName: 'nobody' }]]),
    tools: { ...tools, deaf },
    session,
    clock,
    signal: abort.signal,
    onEvent: (event) => events.push(event),
  });
  await settled();
  abort.abort();
  const { stop, settlements, transcript } = await running;
  expect(stop).toEqual({ reason: 'aborted' });
  expect(outcomes(settlements)).toEqual(['ok', 'error/aborted', 'cancelled', 'cancelled']);
  expect(session.read(notes)).toEqual(['a']);
  expectValid(transcript);
  const before = { entries: transcript.entries.length, events: events.length };
  finish?.();
  await settled();
  expect(late).toMatchObject({ code: 'stale_call' });
  expect({ entries: transcript.entries.length, events: events.length }).toEqual(before);
  expect(session.read(notes)).toEqual(['a']);
});

test.each([
  ['one that listens', true],
  ['one that is deaf', false],
])(
  '[R26] the host aborts during a model call (%s): the turn ends at once, and later parts are ignored',
  async (_how, listens) => {
    for (const streaming of [false, true]) {
      const abort = new AbortController();
      const events: TurnEvent[] = [];
      let speak: ((reply: ScriptedReply) => void) | undefined;
      const slow = (request: LanguageModelV4CallOptions): Promise<ScriptedReply> =>
        new Promise((resolve, reject) => {
          speak = resolve;
          if (listens) request.abortSignal?.addEventListener('abort', () => reject(request.abortSignal?.reason));
        });
      const session = createSession({ slices: [notes] });
      const running = runTurn({
        prompt: 'Go.',
        model: scriptedModel([[noted('a')], slow]),
        tools,
        session,
        signal: abort.signal,
        ...(streaming ? { onEvent: (event: TurnEvent) => void events.push(event) } : {}),
      });
      await settled();
      abort.abort();
      const { stop, transcript, steps } = await running;
      expect({ stop, steps }).toEqual({ stop: { reason: 'aborted' }, steps: 1 });
      speak?.({ text: 'Late.', calls: [noted('late')] });
      await settled();
      expect(transcript.entries.at(-1)?.kind).toBe('stop');
      expect(session.read(notes)).toEqual(['a']);
      if (streaming) expect(events.at(-1)?.type).toBe('turn.end');
      expectValid(transcript);
    }
  },
);

test('[R26] a turn that was aborted continues where it was', async () => {
  const abort = new AbortController();
  const session = createSession({ slices: [notes] });
  const first = runTurn({
    model: scriptedModel([[noted('a')], never]),
    tools,
    session,
    signal: abort.signal,
    prompt: 'Go',
  });
  await settled();
  abort.abort();
  const { transcript } = await first;
  const model = scriptedModel(['Done.']);
  const second = await runTurn({
    model,
    tools,
    session,
    transcript: Transcript.fromJSON(JSON.stringify(transcript)),
  });
  expect(second).toMatchObject({ response: 'Done.', steps: 2 });
  expect(session.read(notes)).toEqual(['a']);
  expect(model.requests[0]?.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
});

test('[R26] a signal that is aborted already: no model call is made', async () => {
  const model = scriptedModel([]);
  expect((await runTurn({ prompt: 'Go.', model, tools, signal: AbortSignal.abort() })).stop).toEqual({
    reason: 'aborted',
  });
  expect(model.requests).toHaveLength(0);
});

const overloaded = (headers?: Record<string, string>): Error =>
  Object.assign(new Error('overloaded'), {
    name: 'AI_APICallError',
    statusCode: 529,
    isRetryable: true,
    ...(headers === undefined ? {} : { responseHeaders: headers }),
  });

test('[R27] a temporary model error is retried, after waits that grow', async () => {
  for (const onEvent of [undefined, () => {}]) {
    const clock = fakeClock();
    const model = scriptedModel([overloaded(), overloaded(), 'Better.']);
    const running = runTurn({ prompt: 'Go.', model, clock, ...(onEvent === undefined ? {} : { onEvent }) });
    await settled();
    for (const [wait, asked] of [
      [499, 1],
      [1, 2],
      [999, 2],
      [1, 3],
    ] as const) {
      await clock.advance(wait);
      expect(model.requests).toHaveLength(asked);
    }
    expect(await running).toMatchObject({ response: 'Better.', steps: 1 });
    expect(clock.sleepers).toBe(0);
  }
});

test.each<[string, Record<string, string>, number]>([
  ['in seconds', { 'retry-after': '7' }, 7_000],
  ['in seconds, in any case', { 'Retry-After': '7' }, 7_000],
  ['in milliseconds', { 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
  ['as a date', { 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 8_000],
  ['as nonsense', { 'retry-after': 'soon' }, 500],
  ['as nothing', { 'retry-after': '', 'retry-after-ms': '' }, 500],
])('[R27] a wait that the provider gives %s is kept, or else the default wait', async (_how, headers, waitMs) => {
  const clock = fakeClock(1_000);
  const model = scriptedModel([overloaded(headers), 'Better.']);
  const running = runTurn({ prompt: 'Go.', model, clock });
  await settled();
  await clock.advance(waitMs - 1);
  expect(model.requests).toHaveLength(1);
  await clock.advance(1);
  expect((await running).response).toBe('Better.');
});

test.each<[string, unknown]>([
  ['the provider says so', Object.assign(new Error('bad key'), { statusCode: 500, isRetryable: false })],
  ['HTTP says so', Object.assign(new Error('bad key'), { statusCode: 401 })],
  ['nobody says that it would help', new Error('what?')],
])('[R27] a model error is never retried if %s', async (_why, error) => {
  const clock = fakeClock();
  const model = scriptedModel([error as Error, 'never']);
  await expect(runTurn({ prompt: 'Go.', model, clock })).rejects.toBe(error);
  expect(model.requests).toHaveLength(1);
  expect(clock.sleepers).toBe(0);
});

test('[R27] a model error that stays rejects with the transcript, valid and resumable', async () => {
  const session = createSession({ slices: [notes] });
  const error = overloaded();
  const events: TurnEvent[] = [];
  const failing = runTurn({
    model: scriptedModel([[noted('a'), noted('b')], error]),
    tools,
    session,
    prompt: 'Go',
    modelRetries: 0,
    onEvent: (event) => events.push(event),
  });
  const thrown = (await failing.catch((caught: unknown) => caught)) as Error & { stop: Stop; transcript: Transcript };
  expect(thrown).toBe(error);
  expect(thrown.stop).toEqual({ reason: 'error', error });
  expect(events.at(-1)).toEqual({ type: 'turn.end', stop: { reason: 'error', error } });
  expectValid(thrown.transcript);
  const model = scriptedModel(['Done.']);
  const resumed = await runTurn({
    model,
    tools,
    session,
    transcript: Transcript.fromJSON(JSON.stringify(thrown.transcript)),
  });
  expect(resumed).toMatchObject({ response: 'Done.', steps: 2, stop: { reason: 'end_turn', by: 'text' } });
  expect(resumed.usage.totalTokens).toBe(30);
  expect(session.read(notes)).toEqual(['a', 'b']);
  expect(JSON.stringify(model.requests[0]?.prompt)).toContain('noted b');
});

test('[R27] the same error thrown in two turns has the transcript of each turn', async () => {
  const error = new Error('the same');
  const fails = (prompt: string) =>
    runTurn({ model: scriptedModel([error]), prompt }).catch(
      (caught: unknown) => (caught as { transcript: Transcript }).transcript,
    );
  expect(JSON.stringify(await fails('first'))).toContain('first');
  expect(JSON.stringify(await fails('second'))).toContain('second');
});

test('[R27] a model may throw anything: a text, a frozen error, an error with the field stop', async () => {
  const throwing = (thrown: unknown) => ({
    ...scriptedModel([]),
    doGenerate: () => Promise.reject(thrown),
  });
  const run = async (thrown: unknown) =>
    (await runTurn({ prompt: 'Go.', model: throwing(thrown) }).catch((caught: unknown) => caught)) as TurnFailed;
  const text = await run('a text');
  expect(text).toBeInstanceOf(TurnFailed);
  expect(text).toMatchObject({ cause: 'a text', stop: { reason: 'error', error: 'a text' } });
  expect(text.transcript).toBeInstanceOf(Transcript);
  const frozen = Object.freeze(new Error('frozen'));
  expect(await run(frozen)).toMatchObject({ cause: frozen, stop: { reason: 'error' } });
  const own = Object.assign(new Error('own'), { stop: () => {}, transcript: 5 });
  expect((await run(own)).stop).toEqual({ reason: 'error', error: own });
  expect((await run(own)).transcript).toBeInstanceOf(Transcript);
  expect(await run(undefined)).toBeInstanceOf(TurnFailed);
});

test('[R27] the host aborts between two tries: the turn ends at once, and the model is not asked again', async () => {
  const clock = fakeClock();
  const abort = new AbortController();
  const model = scriptedModel([overloaded(), 'never']);
  const running = runTurn({ prompt: 'Go.', model, clock, signal: abort.signal });
  await settled();
  abort.abort();
  expect((await running).stop).toEqual({ reason: 'aborted' });
  await settled();
  expect(model.requests).toHaveLength(1);
  expect(clock.sleepers).toBe(0);
});

test('[R28] a reply that was cut is requested once more; the second is the answer if it is complete', async () => {
  const model = scriptedModel([cut('A very long'), 'Short.']);
  expect(await runTurn({ model, prompt: 'Go' })).toMatchObject({
    response: 'Short.',
    stop: { reason: 'end_turn', by: 'text' },
    steps: 2,
  });
  expect(model.requests[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
});

test('[R28] a turn has one such retry, also with other steps in between; then the stop is length', async () => {
  const session = createSession({ slices: [notes] });
  const model = scriptedModel([cut('a'), [noted('a')], cut('b')]);
  const { stop, response } = await runTurn({ prompt: 'Go.', model, tools, session });
  expect({ stop, response }).toEqual({ stop: { reason: 'length' }, response: 'b' });
});

test('[R28] the next turn has a new retry', async () => {
  const { transcript } = await runTurn({ model: scriptedModel([cut('a'), cut('b')]), prompt: 'Go' });
  const next = await runTurn({ model: scriptedModel([cut('c'), 'Short.']), transcript, prompt: 'Again' });
  expect(next).toMatchObject({ response: 'Short.', stop: { reason: 'end_turn', by: 'text' } });
});

test('[R28] if a reply was cut within a call, the call fails, and the reply is requested once more too', async () => {
  const half: ScriptedReply = {
    calls: [noted('a'), { toolName: 'note', input: '{"what":"b' }],
    finishReason: { unified: 'length', raw: undefined },
  };
  const session = createSession({ slices: [notes] });
  const model = scriptedModel([half, half]);
  const { stop, settlements, transcript } = await runTurn({ prompt: 'Go.', model, tools, session });
  expect(stop).toEqual({ reason: 'length' });
  expect(outcomes(settlements)).toEqual(['ok', 'error/invalid_input', 'ok', 'error/invalid_input']);
  expect(model.requests).toHaveLength(2);
  expectValid(transcript);
});

test('[R28] a terminal tool in a reply that was cut ends the turn too', async () => {
  const { stop } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([{ calls: [{ toolName: 'answer' }], finishReason: { unified: 'length', raw: undefined } }]),
    tools,
  });
  expect(stop).toEqual({ reason: 'end_turn', by: 'terminal', tool: 'answer' });
});

const wrong: [string, object][] = [
  ['model', { model: undefined }],
  ['model', { model: 'gpt' }],
  ['model', { model: { doGenerate: () => {} } }],
  ['instructions', { instructions: 5 }],
  ['instructions', { instructions: {} }],
  ['params', { params: [] }],
  ['prompt', { prompt: 5 }],
  ['messages', { messages: 'Hello' }],
  [
    'messages[1]',
    {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'robot', content: 'b' },
      ],
    },
  ],
  ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'image', image: 'AAAA' }] }] }],
  [
    'messages[0].content[0].data',
    { messages: [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] }] },
  ],
  ['messages[0].content[0]', { messages: [{ role: 'user', content: [null] }] }],
  ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
  ['messages[0].content', { messages: [{ role: 'system', content: [{ type: 'text', text: 'a' }] }] }],
  ['messages[0]', { messages: [null] }],
  ['messages[0]', { messages: [{ role: 'user' }] }],
  ['messages[0]', { messages: [{ role: 'tool', content: 'a' }] }],
  ['transcript', { transcript: { version: 1, entries: [] } }],
  ['transcript', { transcript: 'stored' }],
  ['answers', { answers: [] }],
  ['answers.x', { answers: { x: { result: 1 } } }],
  ['onPending', { onPending: 'wait' }],
  ['batch', { batch: 'cancel-rest' }],
  ['batch.onError', { batch: { onError: 'stop' } }],
  ['batch.afterTerminal', { batch: { afterTerminal: true } }],
  ['batch.history', { batch: { history: 'all' } }],
  ['rewind', { rewind: 2 }],
  ['rewind.max', { rewind: { max: -1 } }],
  ['rewind.checkpoint', { rewind: { checkpoint: {} } }],
  ['rewind.restore', { rewind: { restore: 'yes' } }],
  ['observe', { observe: 'text' }],
  ['onEvent', { onEvent: {} }],
  ['onStepFinish', { onStepFinish: 5 }],
  ['maxSteps', { maxSteps: 0 }],
  ['maxSteps', { maxSteps: 1.5 }],
  ['maxSteps', { maxSteps: '3' }],
  ['maxSteps', { maxSteps: Number.NaN }],
  ['modelRetries', { modelRetries: -1 }],
  ['deadline', { deadline: 1 }],
  ['deadline', { deadline: Number.NaN }],
  ['reserveMs', { reserveMs: 500 }],
  ['reserveMs', { reserveMs: 0, deadline: 9e15 }],
  ['reserveMs', { reserveMs: '500', deadline: 9e15 }],
  ['reserveMs', { reserveMs: Number.POSITIVE_INFINITY, deadline: 9e15 }],
  ['reserveTokens', { reserveTokens: 5 }],
  ['reserveTokens', { reserveTokens: 0, budget: { tokens: 10 } }],
  ['budget', { budget: {} }],
  ['budget', { budget: 5 }],
  ['budget.tokens', { budget: { tokens: 0 } }],
  ['budget.toolCalls', { budget: { toolCalls: -1 } }],
  ['signal', { signal: {} }],
  ['middleware', { middleware: {} }],
  ['middleware[0]', { middleware: [{}] }],
  ['policies', { policies: {} }],
  ['journal', { journal: { append: () => {} } }],
  ['clock', { clock: { now: () => 1 } }],
  ['newId', { newId: 'id' }],
  ['logger', { logger: () => {} }],
  ['modelSettings', { modelSettings: 'hot' }],
];
test.each(wrong)(
  'bad input: option %s is refused before the first model call, by its name: %j',
  async (field, options) => {
    const model = scriptedModel(['never']);
    await expect(runTurn({ prompt: 'Go.', model, tools, ...options } as never)).rejects.toMatchObject({
      code: 'options',
      field,
      message: expect.stringContaining(`"${field}"`),
    });
    expect(model.requests).toHaveLength(0);
  },
);

test.each([
  ['an older one', 'v2', 'is of interface version v2'],
  ['a newer one', 'v5', 'is of interface version v5'],
  ['none', undefined, 'names no interface version'],
  ['no text', 4, 'is of interface version 4'],
])(
  '[R54] a model whose interface version is %s is refused at once, naming what is supported',
  async (_, version, why) => {
    const { specificationVersion: _v4, ...rest } = scriptedModel(['never']);
    const model = { ...rest, ...(version === undefined ? {} : { specificationVersion: version }) };
    for (const running of [
      runTurn({ model, prompt: 'Go.' } as never),
      streamTurn({ model, prompt: 'Go.' } as never).result,
    ])
      await expect(running).rejects.toMatchObject({
        code: 'options',
        field: 'model',
        message: expect.stringMatching(`${why}.*supported are v4 and v3.*Update the provider's package`),
      });
    expect(rest.requests).toHaveLength(0);
  },
);

test('[R54] the name of a model is refused, saying that a model object is expected', async () => {
  await expect(runTurn({ model: 'openai/gpt-4', prompt: 'Go.' } as never)).rejects.toMatchObject({
    field: 'model',
    message: expect.stringContaining('must be the model itself'),
  });
});

test.each([undefined, null, 5])('bad input: runTurn(%s) is refused', async (options) => {
  await expect(runTurn(options as never)).rejects.toMatchObject({ code: 'options', field: 'options' });
});

test.each<[string, unknown]>([
  ['an array', [note]],
  ['a text', 'note'],
  ['null', null],
  ['a function that gives nothing', () => undefined],
])('bad input: tools that are %s are refused before the first model call', async (_what, given) => {
  const model = scriptedModel(['never']);
  await expect(runTurn({ prompt: 'Go.', model, tools: given as never })).rejects.toMatchObject({
    code: 'tool_set',
    message: expect.stringContaining('"tools"'),
  });
  expect(model.requests).toHaveLength(0);
});

test('a turn does not read the bytes in its messages to check them: a conversation may have many megabytes', async () => {
  let reads = 0;
  class Bytes extends Uint8Array<ArrayBuffer> {
    override subarray(start?: number, end?: number): Uint8Array<ArrayBuffer> {
      reads++;
      return super.subarray(start, end);
    }
    override [Symbol.iterator](): ArrayIterator<number> {
      reads++;
      return super[Symbol.iterator]();
    }
  }
  const data = { type: 'data', data: new Bytes(new ArrayBuffer(2)) } as const;
  const url = { type: 'url', url: new URL('https://example.com/a.png') } as const;
  const files = [data, url].map((one) => ({ type: 'file' as const, mediaType: 'image/png', data: one }));
  const model = scriptedModel(['A picture.']);
  await runTurn({ model, tools: {}, messages: [{ role: 'user', content: files }] });
  expect(reads).toBe(0);
  expect(model.requests[0]?.prompt.at(-1)?.content).toEqual(files);
});

test('a scripted reply may name its finish reason by a word, and the turn stops accordingly', async () => {
  const cut = { text: 'Half of', finishReason: 'length' } as const;
  const { stop } = await runTurn({ model: scriptedModel([cut, cut]), prompt: 'Write.' });
  expect(stop).toEqual({ reason: 'length' });
  const withheld = { text: '', finishReason: 'content-filter' } as const;
  const { stop: filtered } = await runTurn({ model: scriptedModel([withheld]), prompt: 'Write.' });
  expect(filtered).toEqual({ reason: 'content_filter' });
});
