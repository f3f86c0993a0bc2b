import { expect, test } from 'vitest';
import { z } from 'zod';
import { createSession, dispatchCall, pending, runTurn, slice, Transcript, tool } from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';

// Each of these was once a bug.

const inputSchema = z.object({});
const count = slice('count', { initial: 0, on: { counted: (n: number) => n + 1 } });
const add = tool({
  description: 'Adds.',
  inputSchema,
  effects: 'session',
  execute: (_input, ctx) => ctx.session.dispatch({ type: 'counted' }),
});
const deaf = tool({ description: 'Never answers.', inputSchema, execute: () => new Promise(() => {}) });
const call = { toolName: 'probe' };

test.each([
  ['its own timeout', { timeoutMs: 20 }, {}],
  ['a deadline', {}, { deadline: 1_020 }],
])(
  '[T37, R42] a call that times out around a nested turn, by %s, never becomes a success',
  async (_what, definition, options) => {
    const clock = fakeClock();
    const session = createSession({ slices: [count] });
    const model = scriptedModel([[{ toolName: 'add' }], [{ toolName: 'deaf' }], 'Done.']);
    const probe = tool({
      description: 'Nests.',
      inputSchema,
      ...definition,
      execute: async (_input, ctx) => (await runTurn({ model, prompt: 'go', tools: { add, deaf }, parent: ctx })).stop,
    });
    const running = dispatchCall({ tools: { probe }, call, session, clock, ...options });
    for (let turn = 0; turn < 20; turn++) await settled();
    await clock.advance(20);
    expect((await running).outcome).toMatchObject({ status: 'error', code: 'timeout' });
    expect(session.read(count)).toBe(0);
  },
);

test('[R6] generated ids that start again at 1 in a resumed turn do not confuse two calls', async () => {
  const paid: string[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({ to: z.string() }),
    approval: true,
    execute: ({ to }) => void paid.push(to),
  });
  const to = (name: string) => [{ toolName: 'pay', input: { to: name } }];
  const tools = { pay };
  const first = await runTurn({ model: scriptedModel([to('A')]), tools, prompt: 'pay', newId: sequentialIds() });
  const transcript = Transcript.fromJSON(JSON.stringify(first.transcript));
  const again = { tools, transcript, newId: sequentialIds() };
  const second = await runTurn({ ...again, model: scriptedModel([to('B')]), answers: { 'call-1': { approve: true } } });
  expect(second.pending).toMatchObject([{ input: { to: 'B' } }]);
  const [waiting] = second.pending;
  await runTurn({
    ...again,
    model: scriptedModel(['Done.']),
    answers: { [String(waiting?.callId)]: { approve: true } },
  });
  expect(paid).toEqual(['A', 'B']);
  await expect(runTurn({ model: scriptedModel([to('A')]), tools, prompt: 'x', newId: () => '' })).rejects.toThrow(
    'newId',
  );
});

test('[R50] asynchronous listeners that reject are reported and change nothing', async () => {
  const reports: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void reports.push(message) };
  const rejecting = async (): Promise<void> => {
    throw new Error('listener');
  };
  const listeners = { onEvent: rejecting as () => void, onStepFinish: rejecting as () => void };
  const result = await runTurn({ model: scriptedModel(['Hello.']), prompt: 'hi', logger, ...listeners });
  await settled();
  expect(result.response).toBe('Hello.');
  expect(reports.length).toBeGreaterThan(1);
});

test('[R47] a journal may return something else than a promise', async () => {
  const log: unknown[] = [];
  const journal = {
    append: (entries: readonly unknown[]) => log.push(...entries),
    settle: (entry: unknown) => log.push(entry),
  };
  const model = scriptedModel([[{ toolName: 'add' }], 'Done.']);
  const result = await runTurn({ model, tools: { add }, prompt: 'go', journal: journal as never });
  expect(result.stop).toEqual({ reason: 'end_turn', by: 'text' });
  expect(log).toEqual(result.transcript.entries);
});

test('[R43] an answer after the expiry of its call does not settle it', async () => {
  const clock = fakeClock();
  const ask = tool({ description: 'Asks.', inputSchema, execute: () => pending({ expiresInMs: 50 }) });
  const options = { tools: { ask }, clock, newId: sequentialIds() };
  const first = await runTurn({ ...options, model: scriptedModel([[{ toolName: 'ask' }]]), prompt: 'go' });
  await clock.advance(50);
  const late = { ...options, transcript: first.transcript, answers: { 'call-1': { result: 'late' } } };
  const second = await runTurn({ ...late, model: scriptedModel(['Done.']) });
  expect(second.settlements).toMatchObject([{ outcome: { status: 'error', code: 'expired' } }]);
});

test('[R43] a call expires too if its turn continued without it, and the model reads that', async () => {
  const clock = fakeClock();
  const ask = tool({ description: 'Asks.', inputSchema, execute: () => pending({ expiresInMs: 50 }) });
  const options = { tools: { ask }, clock, onPending: 'continue' as const };
  const first = await runTurn({ ...options, model: scriptedModel([[{ toolName: 'ask' }], 'Asked.']), prompt: 'go' });
  expect(first.pending).toHaveLength(1);
  await clock.advance(50);
  const model = scriptedModel(['I see.']);
  const second = await runTurn({ ...options, model, transcript: first.transcript, prompt: 'and?' });
  expect(second.pending).toEqual([]);
  expect(JSON.stringify(model.requests[0]?.prompt)).toContain('not answered in time');
});

test('[T40] invalid token counts of a provider do not disable a token budget, and tools that are a promise are refused', async () => {
  const usage = { inputTokens: { total: Number.NaN }, outputTokens: { total: -5 } } as never;
  const model = scriptedModel([{ text: 'Hello.', usage }]);
  expect((await runTurn({ model, prompt: 'hi', budget: { tokens: 10 } })).usage.totalTokens).toBe(0);
  const later = async () => ({ add });
  await expect(runTurn({ model: scriptedModel(['x']), prompt: 'hi', tools: later as never })).rejects.toThrow(
    'await it',
  );
});

test('[R43] answers that come with a new prompt become the results of their calls too', async () => {
  const ask = tool({ description: 'Asks.', inputSchema, execute: () => pending() });
  const options = { tools: { ask }, newId: sequentialIds() };
  const first = await runTurn({ ...options, model: scriptedModel([[{ toolName: 'ask' }]]), prompt: 'go' });
  const model = scriptedModel(['I see.']);
  const answers = { 'call-1': { result: 'forty-two' } };
  await runTurn({ ...options, model, transcript: first.transcript, answers, prompt: 'and?' });
  const [, , result, question] = model.requests[0]?.prompt ?? [];
  expect(JSON.stringify(result)).toContain('forty-two');
  expect(question).toMatchObject({ role: 'user', content: [{ text: 'and?' }] });
});

test('[R38] messages with a call and no result are refused before anything is written', async () => {
  const transcript = new Transcript();
  const broken = [{ type: 'tool-call' as const, toolCallId: 'c1', toolName: 'x', input: {} }];
  const messages = [{ role: 'assistant' as const, content: broken }];
  const model = scriptedModel(['x']);
  const refused = runTurn({ model, transcript, messages, prompt: 'go' });
  await expect(refused).rejects.toMatchObject({
    field: 'messages[0]',
    message: expect.stringContaining('c1'),
    transcript,
  });
  expect([model.requests, transcript.entries]).toEqual([[], []]);
});

test('[R24] tools that cannot be a tool set are refused before anything is written', async () => {
  const transcript = new Transcript();
  const refused = runTurn({ model: scriptedModel(['x']), transcript, tools: [add] as never, prompt: 'go' });
  await expect(refused).rejects.toMatchObject({ name: 'ToolSetError', transcript, stop: { reason: 'error' } });
  expect(transcript.entries).toEqual([]);
});
