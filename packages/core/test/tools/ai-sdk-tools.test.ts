import { jsonSchema as aiJsonSchema, tool as aiTool, dynamicTool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { advertise } from '../../src/doors/internal.ts';
import { configureTools, createSession, dispatchCall, runTurn, type ToolSet, Transcript } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const dispatch = (tools: ToolSet, toolName: string, input: unknown = {}, more: object = {}) =>
  dispatchCall({ tools, call: { toolName, input, callId: 'call-1' }, ...more });

test("[T7] an AI SDK tool runs unchanged, with the AI SDK's own execution options", async () => {
  const seen: unknown[] = [];
  const weather = aiTool({
    description: 'The weather.',
    inputSchema: z.object({ city: z.string(), unit: z.string().default('C') }),
    execute: async (input, { toolCallId, messages, abortSignal }) => {
      seen.push(input, toolCallId, messages, abortSignal instanceof AbortSignal);
      return { city: input.city, degrees: 21 };
    },
  });
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }];
  const settlement = await dispatch({ weather }, 'weather', { city: 'Rome' }, { messages });
  expect(seen).toEqual([{ city: 'Rome', unit: 'C' }, 'call-1', messages, true]);
  expect(settlement).toMatchObject({
    toolName: 'weather',
    outcome: { status: 'ok', value: { city: 'Rome', degrees: 21 } },
  });
});

test('[T7] its toModelOutput is honoured: text, JSON, content, error, and one that throws', async () => {
  const image = { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: 'AAAA' } };
  const outputs = {
    text: () => ({ type: 'text' as const, value: 'for the model' }),
    json: () => ({ type: 'json' as const, value: { a: 1 } }),
    content: () => ({ type: 'content' as const, value: [{ type: 'text' as const, text: 'see:' }, image] }),
    error: () => ({ type: 'error-text' as const, value: 'it broke' }),
    thrown: () => {
      throw new Error('no output');
    },
    unknown: () => ({ type: 'hologram', value: 1 }) as never,
  };
  const tools = Object.fromEntries(
    Object.entries(outputs).map(([name, toModelOutput]) => [
      name,
      aiTool({ inputSchema: z.object({}), execute: async () => ({ raw: 1 }), toModelOutput }),
    ]),
  ) as ToolSet;
  const outcome = async (name: string) => (await dispatch(tools, name)).outcome;
  expect(await outcome('text')).toEqual({ status: 'ok', value: { raw: 1 }, text: 'for the model' });
  expect(await outcome('json')).toMatchObject({ status: 'ok', text: '{"a":1}' });
  expect(await outcome('content')).toEqual({ status: 'ok', value: { raw: 1 }, text: 'see:', content: [image] });
  expect(await outcome('error')).toMatchObject({ status: 'error', code: 'execution', text: 'it broke' });
  expect(await outcome('thrown')).toMatchObject({ status: 'ok', text: '{"raw":1}' });
  expect(await outcome('unknown')).toMatchObject({ status: 'ok', text: '{"raw":1}' });
});

test.each<[string, unknown, object]>([
  ['bytes', new Uint8Array([1, 2]), { type: 'data', data: 'AQI=' }],
  ['base64', 'AQI=', { type: 'data', data: 'AQI=' }],
  ['the address of a file', 'https://files.test/a.png', { type: 'url', url: 'https://files.test/a.png' }],
  ['a URL', new URL('https://files.test/a.png'), { type: 'url', url: 'https://files.test/a.png' }],
])('[T7] [R57] a file that its toModelOutput gives as %s can be stored and read back', async (_, data, stored) => {
  const file = { type: 'file', mediaType: 'image/png', data } as never;
  const draw = aiTool({
    inputSchema: z.object({}),
    execute: async () => 'drawn',
    toModelOutput: () => ({ type: 'content', value: [file] }),
  });
  const model = scriptedModel([{ toolName: 'draw' }, 'Done.']);
  const { transcript } = await runTurn({ model, prompt: 'Draw.', tools: { draw } });
  const [settled] = Transcript.fromJSON(JSON.stringify(transcript)).entries.filter(({ kind }) => kind === 'settled');
  expect(settled).toMatchObject({ settlement: { outcome: { content: [{ type: 'file', data: stored }] } } });
});

test.each<[object, object]>([
  [
    { type: 'image-data', mediaType: 'image/png', data: 'AQI=' },
    { type: 'data', data: 'AQI=' },
  ],
  [
    { type: 'file-data', mediaType: 'application/pdf', data: 'AQI=' },
    { type: 'data', data: 'AQI=' },
  ],
  [
    { type: 'media', mediaType: 'image/png', data: 'AQI=' },
    { type: 'data', data: 'AQI=' },
  ],
  [
    { type: 'image-url', url: 'https://files.test/a.png' },
    { type: 'url', url: new URL('https://files.test/a.png') },
  ],
  [
    { type: 'file-url', url: 'https://files.test/a.pdf' },
    { type: 'url', url: new URL('https://files.test/a.pdf') },
  ],
])(
  '[T7] a provider gets a file that its toModelOutput names by an older name of the AI SDK: %j',
  async (part, data) => {
    const draw = aiTool({
      inputSchema: z.object({}),
      execute: async () => 'drawn',
      toModelOutput: () => ({ type: 'content', value: [part as never] }),
    });
    const model = scriptedModel([{ toolName: 'draw' }, 'Done.']);
    await runTurn({ model, prompt: 'Draw.', tools: { draw } });
    const [result] = model.requests[1]?.prompt.findLast(({ role }) => role === 'tool')?.content ?? [];
    expect(result).toMatchObject({
      output: { type: 'content', value: [{ type: 'file', mediaType: expect.stringMatching(/./), data }] },
    });
  },
);

test('[R43] the model sees the pictures of a result that comes as a late answer', async () => {
  const files = [
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQI=' } },
    { type: 'image-url', url: 'https://files.test/a.png' },
    // Most providers refuse a message of a person with such a file.
    { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: 'AQI=' } },
  ];
  const draw = aiTool({
    inputSchema: z.object({}),
    needsApproval: true,
    execute: async () => 'drawn',
    toModelOutput: () => ({ type: 'content', value: files as never }),
  });
  const options = { tools: { draw }, onPending: 'continue' } as const;
  const first = await runTurn({ ...options, model: scriptedModel([{ toolName: 'draw' }, 'Wait.']), prompt: 'Draw.' });
  const model = scriptedModel(['Nice.']);
  await runTurn({
    ...options,
    model,
    transcript: Transcript.fromJSON(JSON.stringify(first.transcript)),
    answers: { [first.pending[0]?.callId ?? '']: { approve: true } },
  });
  expect(model.requests[0]?.prompt.at(-1)).toEqual({
    role: 'user',
    content: [
      { type: 'text', text: expect.stringContaining('has come:') },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQI=' } },
      { type: 'file', mediaType: 'image', data: { type: 'url', url: new URL('https://files.test/a.png') } },
    ],
  });
});

test('[R57] a provider gets the address of a file as a URL, also from a transcript that was stored', async () => {
  const url = new URL('https://files.test/a.png');
  const draw = aiTool({
    inputSchema: z.object({}),
    execute: async () => 'drawn',
    toModelOutput: () => ({
      type: 'content',
      value: [{ type: 'file', mediaType: 'image/png', data: { type: 'url', url } }],
    }),
  });
  const model = scriptedModel([{ toolName: 'draw' }, 'Done.', 'Again.']);
  const { transcript } = await runTurn({ model, prompt: 'Draw.', tools: { draw } });
  const stored = Transcript.fromJSON(JSON.stringify(transcript));
  await runTurn({ model, prompt: 'And now?', tools: { draw }, transcript: stored });
  const shown = model.requests.slice(1).map(({ prompt }) => prompt.find(({ role }) => role === 'tool')?.content);
  const content = [{ output: { value: [{ data: { url: expect.any(URL) } }] } }];
  expect(shown).toMatchObject([content, content]);
});

test('[T7] [R57] content that could not be read back is shown like any other value', async () => {
  const draw = aiTool({
    inputSchema: z.object({}),
    execute: async () => ({ drawn: true }),
    toModelOutput: () => ({ type: 'content', value: [{ type: 'file', mediaType: 'image/png', data: 7 } as never] }),
  });
  expect((await dispatch({ draw }, 'draw')).outcome).toMatchObject({ status: 'ok', text: '{"drawn":true}' });
});

test('[T7] its needsApproval is honoured', async () => {
  let runs = 0;
  const pay = aiTool({
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: async ({ amount }) => amount > 100,
    execute: async () => ++runs,
  });
  expect((await dispatch({ pay }, 'pay', { amount: 5 })).outcome.status).toBe('ok');
  expect((await dispatch({ pay }, 'pay', { amount: 500 })).outcome).toMatchObject({
    status: 'pending',
    kind: 'approval',
  });
  expect(runs).toBe(1);
  const approved = await dispatch({ pay }, 'pay', { amount: 500 }, { answer: { approve: true } });
  expect(approved.outcome).toMatchObject({ status: 'ok', value: 2 });
  const denied = await dispatch({ pay }, 'pay', { amount: 500 }, { answer: { deny: 'too much' } });
  expect(denied.outcome).toMatchObject({ code: 'denied', message: 'too much' });
  expect(runs).toBe(2);
});

test('[T7] an async generator, a dynamic tool and an AI SDK JSON schema work', async () => {
  const events: unknown[] = [];
  const tools: ToolSet = {
    count: aiTool({
      inputSchema: aiJsonSchema<{ to: number }>({ type: 'object', properties: { to: { type: 'number' } } }),
      async *execute({ to }) {
        for (let n = 1; n <= to; n++) yield n;
      },
    }),
    dynamic: dynamicTool({
      description: 'Any.',
      inputSchema: z.object({ a: z.string() }),
      execute: async (input) => input,
    }),
  };
  const counted = await dispatch(
    tools,
    'count',
    { to: 3 },
    {
      onEvent: (event: { type: string; value?: unknown }) =>
        event.type === 'tool-call.progress' && events.push(event.value),
    },
  );
  expect(counted.outcome).toMatchObject({ status: 'ok', value: 3 });
  expect(events).toEqual([1, 2, 3]);
  expect((await dispatch(tools, 'dynamic', { a: 'x' })).outcome).toMatchObject({ status: 'ok', value: { a: 'x' } });
});

test('[T5] an AI SDK tool keeps its own strictness', async () => {
  const loose = aiTool({ inputSchema: z.object({ a: z.string() }), execute: async (input) => input });
  expect((await dispatch({ loose }, 'loose', { a: 'x', b: 1 })).outcome).toMatchObject({
    status: 'ok',
    value: { a: 'x' },
  });
});

test('[T7] a call that the provider executed itself is recorded, not run', async () => {
  const search = {
    type: 'provider' as const,
    id: 'anthropic.web_search_20250305',
    args: { maxUses: 3 },
    isProviderExecuted: true,
  };
  const tools: ToolSet = { search };
  const call = { toolName: 'search', input: { query: 'x' } };
  expect(await advertise(tools, { session: createSession() })).toEqual([
    { type: 'provider', id: search.id, name: 'search', args: { maxUses: 3 } },
  ]);
  const found = await dispatchCall({ tools, call: { ...call, provided: { result: [{ title: 'X' }] } } });
  expect(found.outcome).toEqual({ status: 'ok', value: [{ title: 'X' }], text: '[{"title":"X"}]' });
  const failed = await dispatchCall({ tools, call: { ...call, provided: { result: 'over quota', isError: true } } });
  expect(failed.outcome).toMatchObject({ status: 'error', text: 'over quota' });
});

test('[T7] the options that configureTools adds to an AI SDK tool work', async () => {
  const report = aiTool({ inputSchema: z.object({}), execute: async () => 'done' });
  const tools = configureTools({ report }, { report: { terminal: true, approval: true } });
  expect((await dispatch(tools, 'report')).outcome.status).toBe('pending');
  expect(await dispatch(tools, 'report', {}, { answer: { approve: true } })).toMatchObject({
    terminal: true,
    outcome: { status: 'ok' },
  });
});

test('[T7] a wrapper that spreads the execution options loses none of them', async () => {
  const seen: unknown[] = [];
  const inner = aiTool({
    inputSchema: z.object({}),
    execute: async (_input, { toolCallId, messages, abortSignal }) => {
      seen.push(toolCallId, messages, abortSignal instanceof AbortSignal);
    },
  });
  const wrapped = aiTool({
    inputSchema: z.object({}),
    execute: async (input, options) => inner.execute?.(input, { ...options }),
  });
  await dispatch({ wrapped }, 'wrapped');
  expect(seen).toEqual(['call-1', [], true]);
});
