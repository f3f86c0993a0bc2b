import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  blocked,
  createSession,
  fail,
  type Middleware,
  pending,
  runTurn,
  slice,
  type Transcript,
  type TurnEvent,
  tool,
} from '../../src/index.ts';
import { type ScriptedCall, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';

const none = z.object({});
const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { noted: (all, { what }: { type: string; what: string }) => [...all, what] },
});
const noting = tool({
  description: 'Notes.',
  inputSchema: z.object({ what: z.string() }),
  effects: 'session',
  execute: ({ what }, ctx) => {
    ctx.session.dispatch({ type: 'noted', what });
    return ctx.session.read(notes).join(',');
  },
});
const note = (what: string): ScriptedCall => ({ toolName: 'note', input: { what } });
const failing = (execute: () => unknown) => tool({ description: 'Fails.', inputSchema: none, execute });
const statuses = (settlements: readonly { outcome: { status: string } }[]): string[] =>
  settlements.map(({ outcome }) => outcome.status);

/** Asserts that each call is followed directly by exactly one result. */
function expectValid(transcript: Transcript): void {
  const view = transcript.view();
  for (const [index, message] of view.entries()) {
    if (message.role !== 'assistant') continue;
    const asked = message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
    const next = view[index + 1];
    const given =
      next?.role === 'tool'
        ? next.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    expect(given).toEqual(asked);
  }
}

/** A tool whose calls run until the test opens the gate with their key. */
function gates() {
  const open = new Map<string, () => void>();
  const log: string[] = [];
  const gated = (effects: 'none' | 'session', more: object = {}) =>
    tool({
      description: 'Waits.',
      inputSchema: z.object({ key: z.string() }),
      effects,
      execute: async ({ key }) => {
        log.push(`+${key}`);
        await new Promise<void>((resolve) => open.set(key, resolve));
        log.push(`-${key}`);
        return key;
      },
      ...more,
    });
  const letGo = async (key: string): Promise<void> => {
    await until(() => open.has(key));
    open.get(key)?.();
    await until(() => log.includes(`-${key}`));
  };
  return { gated, letGo, log };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    if (tries > 1_000) throw new Error('It never came.');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('[R1] N calls have N settlements, in call order, each with its own id, however each of them ends', async () => {
  const tools = {
    good: tool({ description: 'd', inputSchema: none, effects: 'none', execute: () => 'fine' }),
    note: noting,
    bad: failing(() => fail('no')),
    strict: tool({ description: 'd', inputSchema: z.object({ n: z.number() }), execute: () => 1 }),
  };
  const anyCall = fc.constantFrom<ScriptedCall>(
    { toolName: 'good' },
    note('x'),
    { toolName: 'bad' },
    { toolName: 'strict', input: { n: 'one' } },
    { toolName: 'nobody' },
    { toolName: 'good', input: '{"half":' },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyCall, { minLength: 1, maxLength: 12 }),
      fc.constantFrom('continue' as const, 'cancel-rest' as const),
      async (calls, onError) => {
        const { settlements, transcript, stop } = await runTurn({
          prompt: 'Go.',
          model: scriptedModel([calls, 'done']),
          tools,
          session: createSession({ slices: [notes] }),
          batch: { onError },
          newId: sequentialIds(),
        });
        expect(settlements.map(({ callId }) => callId)).toEqual(calls.map((_, index) => `call-${index + 1}`));
        expect(settlements.map(({ toolName }) => toolName)).toEqual(calls.map(({ toolName }) => toolName));
        expect(stop).toEqual({ reason: 'end_turn', by: 'text' });
        expectValid(transcript);
      },
    ),
    { numRuns: 60 },
  );
});

test('[R2] a later call sees what an earlier one committed, and nothing of one that failed', async () => {
  const session = createSession({ slices: [notes] });
  const spoil = tool({
    description: 'd',
    inputSchema: none,
    execute: (_input, ctx) => {
      ctx.session.dispatch({ type: 'noted', what: 'never' });
      throw new Error('after writing');
    },
  });
  const { settlements } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[note('a'), { toolName: 'spoil' }, note('b')], 'done']),
    tools: { note: noting, spoil },
    session,
  });
  expect(settlements.map(({ outcome }) => outcome.text)).toEqual([
    'a',
    expect.stringContaining('after writing'),
    'a,b',
  ]);
  expect(session.read(notes)).toEqual(['a', 'b']);
});

test('[R3] adjacent calls without effects run at the same time; results are in call order, whichever ends first', async () => {
  const { gated, letGo, log } = gates();
  const model = scriptedModel([['a', 'b', 'c'].map((key) => ({ toolName: 'read', input: { key } })), 'done']);
  const running = runTurn({ prompt: 'Go.', model, tools: { read: gated('none') } });
  await until(() => log.length === 3);
  for (const key of ['c', 'a', 'b']) await letGo(key);
  const { settlements } = await running;
  expect(log).toEqual(['+a', '+b', '+c', '-c', '-a', '-b']);
  expect(settlements.map(({ outcome }) => outcome.text)).toEqual(['a', 'b', 'c']);
  const [, told] = model.requests;
  const results = told?.prompt.at(-1);
  expect(results?.role === 'tool' && results.content.map((part) => part.type === 'tool-result' && part.output)).toEqual(
    ['a', 'b', 'c'].map((value) => ({ type: 'text', value })),
  );
});

test('[R3] calls with effects run one after another', async () => {
  const { gated, letGo, log } = gates();
  const running = runTurn({
    prompt: 'Go.',
    model: scriptedModel([['a', 'b', 'c'].map((key) => ({ toolName: 'write', input: { key } })), 'done']),
    tools: { write: gated('session') },
  });
  for (const key of ['a', 'b', 'c']) await letGo(key);
  await running;
  expect(log).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
});

test('[R3] under cancel-rest nothing runs in parallel', async () => {
  const { gated, letGo, log } = gates();
  const running = runTurn({
    prompt: 'Go.',
    model: scriptedModel([['a', 'b'].map((key) => ({ toolName: 'read', input: { key } })), 'done']),
    tools: { read: gated('none') },
    batch: { onError: 'cancel-rest' },
  });
  await letGo('a');
  await letGo('b');
  await running;
  expect(log).toEqual(['+a', '-a', '+b', '-b']);
});

test.each([
  ['terminal', { terminal: true }, {}],
  ['listed', {}, { terminating: { toolIds: ['barrier', 'read'], consecutiveNudges: 1 } }],
  ['transition', { transition: true }, {}],
])('[R3] a %s call is a barrier: nothing runs in parallel with it', async (_kind, more, options) => {
  const { gated, letGo, log } = gates();
  const call = (toolName: string, key: string): ScriptedCall => ({ toolName, input: { key } });
  const running = runTurn({
    prompt: 'Go.',
    model: scriptedModel([[call('see', 'a'), call('barrier', 'b'), call('see', 'c')], 'done', 'done']),
    tools: { see: gated('none'), read: gated('none'), barrier: gated('none', more) },
    batch: { afterTerminal: 'run' },
    ...options,
  });
  await letGo('a');
  await letGo('b');
  if (_kind !== 'listed') await letGo('c');
  await running;
  expect(log.slice(0, 4)).toEqual(['+a', '-a', '+b', '-b']);
});

const failures: [string, AnyTool][] = [
  ['throws', failing(() => Promise.reject(new Error('broke')))],
  ['fails slowly', failing(() => new Promise((resolve) => setImmediate(() => resolve(fail('at last')))))],
  ['is blocked', failing(() => blocked('house rule'))],
  ['stays pending', failing(() => pending())],
  ['times out', tool({ description: 'd', inputSchema: none, timeoutMs: 1, execute: () => new Promise(() => {}) })],
  ['has invalid input', tool({ description: 'd', inputSchema: z.object({ n: z.number() }), execute: () => 1 })],
  [
    'is denied',
    tool({
      description: 'd',
      inputSchema: none,
      policies: [{ name: 'p', beforeCall: () => ({ deny: 'no' }) }],
      execute: () => 1,
    }),
  ],
];
test.each(failures)(
  '[R4] under cancel-rest, after a call that %s no later one of its batch starts',
  async (_how, bad) => {
    const session = createSession({ slices: [notes] });
    const {
      settlements,
      pending: waiting,
      transcript,
    } = await runTurn({
      prompt: 'Go.',
      model: scriptedModel([[note('a'), { toolName: 'bad' }, note('b'), note('c')], 'done']),
      tools: { note: noting, bad },
      session,
      batch: { onError: 'cancel-rest' },
      newId: sequentialIds(),
    });
    expect(session.read(notes)).toEqual(['a']);
    const late = settlements.filter(({ callId }) => callId === 'call-3' || callId === 'call-4');
    expect(late).toHaveLength(2);
    for (const { outcome } of late)
      expect(outcome).toMatchObject({
        status: 'cancelled',
        reason: expect.stringMatching(/"bad" \(call call-2\) \S+/),
      });
    expect(settlements.length + waiting.length).toBe(4);
    expectValid(transcript);
  },
);

test('[R4] an unknown tool cancels the rest too, and the next step starts clean', async () => {
  const session = createSession({ slices: [notes] });
  const { settlements } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[{ toolName: 'nobody' }, note('a')], [note('b'), note('c')], 'done']),
    tools: { note: noting },
    session,
    batch: { onError: 'cancel-rest' },
  });
  expect(statuses(settlements)).toEqual(['error', 'cancelled', 'ok', 'ok']);
  expect(session.read(notes)).toEqual(['b', 'c']);
});

test('[R5] by default later calls run after a failure', async () => {
  const session = createSession({ slices: [notes] });
  const { settlements } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[{ toolName: 'bad' }, note('a'), { toolName: 'nobody' }, note('b')], 'done']),
    tools: { note: noting, bad: failing(() => fail('no')) },
    session,
  });
  expect(statuses(settlements)).toEqual(['error', 'ok', 'error', 'ok']);
  expect(session.read(notes)).toEqual(['a', 'b']);
});

test.each([
  ['repeats', 'same'],
  ['is empty', ''],
  ['is missing', undefined],
])(
  '[R6] if a call id of the provider %s, each call settles once, under an id of the library',
  async (_how, toolCallId) => {
    for (const onEvent of [undefined, () => {}]) {
      const session = createSession({ slices: [notes] });
      const content = ['a', 'b', 'c'].map((what) => ({
        type: 'tool-call' as const,
        toolCallId: toolCallId as string,
        toolName: 'note',
        input: JSON.stringify({ what }),
      }));
      const { settlements, transcript } = await runTurn({
        prompt: 'Go.',
        model: scriptedModel([{ content }, { content }, 'done']),
        tools: { note: noting },
        session,
        ...(onEvent === undefined ? {} : { onEvent }),
      });
      expect(session.read(notes)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
      expect(new Set(settlements.map(({ callId }) => callId)).size).toBe(6);
      expect(settlements.map(({ input }) => (input as { what: string }).what)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
      expectValid(transcript);
    }
  },
);

test('[R6] calls that the provider ran itself settle once each too, with any ids', async () => {
  const ran = (result: string) => [
    { type: 'tool-call' as const, toolCallId: 'same', toolName: 'web', input: '{}', providerExecuted: true },
    { type: 'tool-result' as const, toolCallId: 'same', toolName: 'web', result },
  ];
  const web = tool({ description: 'd', inputSchema: none, execute: () => 'never run here' });
  const step = { content: [...ran('one'), ...ran('two'), ...ran('three')] };
  const model = scriptedModel([step, { content: ran('four') }, 'done']);
  const { settlements } = await runTurn({ prompt: 'Go.', model, tools: { web } });
  expect(settlements.map(({ outcome }) => outcome.text)).toEqual(['one', 'two', 'three', 'four']);
  expect(new Set(settlements.map(({ callId }) => callId)).size).toBe(4);
  expect(model.requests[1]?.prompt.at(-1)).toMatchObject({
    role: 'assistant',
    content: step.content.map(({ type, toolCallId }) => ({ type, toolCallId })),
  });
});

test('[T7] a tool can read the messages of the request in which the model called it', async () => {
  const read: unknown[] = [];
  const look = tool({
    description: 'd',
    inputSchema: none,
    execute: (_input, { messages }) => void read.push(messages),
  });
  const model = scriptedModel([[{ toolName: 'look' }, { toolName: 'look' }], { toolName: 'look' }, 'done']);
  await runTurn({ model, tools: { look }, prompt: 'Go' });
  const [first, second] = model.requests.map(({ prompt }) => prompt);
  expect(read).toEqual([first, first, second]);
});

test('[R7] every yield is a progress event, the last one is the result', async () => {
  const events: TurnEvent[] = [];
  const count = tool({
    description: 'd',
    inputSchema: none,
    execute: async function* () {
      yield 'one';
      yield 'two';
      yield 'three';
    },
  });
  const { settlements } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([{ toolName: 'count' }, 'done']),
    tools: { count },
    onEvent: (event) => events.push(event),
  });
  expect(settlements[0]?.outcome).toEqual({ status: 'ok', value: 'three', text: 'three' });
  const told = events.flatMap((event) => (event.type === 'tool-call.progress' ? [event.value] : []));
  expect(told).toEqual(['one', 'two', 'three']);
});

test('[R7] a generator that throws after yielding is a failed call, and its writes are rolled back', async () => {
  const session = createSession({ slices: [notes] });
  const half = tool({
    description: 'd',
    inputSchema: none,
    execute: async function* (_input, ctx) {
      ctx.session.dispatch({ type: 'noted', what: 'x' });
      yield 'a good start';
      throw new Error('and then');
    },
  });
  const { settlements } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([{ toolName: 'half' }, 'done']),
    tools: { half },
    session,
  });
  expect(settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'execution', message: 'and then' });
  expect(session.read(notes)).toEqual([]);
});

const bad: [string, ScriptedCall | string, string][] = [
  ['an unknown tool', { toolName: 'nobody' }, 'unknown_tool'],
  ['a name of the prototype', { toolName: 'constructor' }, 'unknown_tool'],
  ['an empty name', { toolName: '' }, 'unknown_tool'],
  ['a name of 100,000 characters', { toolName: 'n'.repeat(100_000) }, 'unknown_tool'],
  ['half a JSON', { toolName: 'note', input: '{"what": "ha' }, 'invalid_input'],
  ['an array', { toolName: 'note', input: '[1]' }, 'invalid_input'],
  ['a JSON null', { toolName: 'note', input: 'null' }, 'invalid_input'],
  ['no arguments', { toolName: 'note', input: '' }, 'invalid_input'],
  ['a key too many', { toolName: 'note', input: { what: 'a', more: 1 } }, 'invalid_input'],
  ['lone surrogates and zeros', { toolName: 'note', input: '{"what":"\\ud800\\u0000","\\u0000":1}' }, 'invalid_input'],
  ['a __proto__', { toolName: 'note', input: '{"what":"a","__proto__":{"x":1}}' }, 'invalid_input'],
  [
    '100,000 levels',
    { toolName: 'note', input: `{"what":${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
    'invalid_input',
  ],
];
test.each(bad)(
  'bad input: a call with %s settles as an error, the model reads it and goes on',
  async (_what, call, code) => {
    const model = scriptedModel([[call as ScriptedCall, note('after')], 'done']);
    const { settlements, stop, transcript } = await runTurn({
      prompt: 'Go.',
      model,
      tools: { note: noting },
      session: createSession({ slices: [notes] }),
    });
    expect(settlements[0]?.outcome).toMatchObject({ status: 'error', code });
    expect(settlements[1]?.outcome).toMatchObject({ status: 'ok', text: 'after' });
    expect(stop).toEqual({ reason: 'end_turn', by: 'text' });
    const heard = model.requests[1]?.prompt.at(-1);
    const shown = model.requests[1]?.prompt.at(-2);
    // Providers refuse a call whose arguments are not an object.
    const [part] = shown?.role === 'assistant' ? shown.content : [];
    expect(part?.type === 'tool-call' && Object.prototype.toString.call(part.input)).toBe('[object Object]');
    expect(structuredClone(transcript.view())).toHaveLength(transcript.view().length);
    expect(heard?.role === 'tool' && heard.content[0]).toMatchObject({ output: { type: 'error-text' } });
    expectValid(transcript);
  },
);

test('bad input: a call with input nested too deep to be stored does not run, whatever its schema allows', async () => {
  const deep = (levels: number) => `{"what":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
  const wide = JSON.stringify({ what: Array.from({ length: 5_000 }, (_, index) => [{ index }]) });
  const any = tool({ description: 'd', inputSchema: z.object({ what: z.any() }), execute: () => 'ran' });
  const { settlements, transcript } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[deep(100_000), deep(900), wide].map((input) => ({ toolName: 'any', input })), 'done']),
    tools: { any },
  });
  expect(settlements.map(({ outcome }) => outcome.status === 'error' && outcome.code)).toEqual([
    'invalid_input',
    false,
    false,
  ]);
  expect(structuredClone(transcript.view())).toHaveLength(transcript.view().length);
});

test('bad input: an argument of 5 MB reaches its tool complete', async () => {
  const what = 'x'.repeat(5_000_000);
  const { settlements } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([note(what), 'done']),
    tools: { note: noting },
    session: createSession({ slices: [notes] }),
    onEvent: () => {},
  });
  expect(settlements[0]?.outcome).toMatchObject({ status: 'ok' });
  expect(settlements[0]?.outcome.text).toHaveLength(5_000_000);
});

test('bad input: 200 calls in a batch settle, each once, in order', async () => {
  const session = createSession({ slices: [notes] });
  const names = Array.from({ length: 200 }, (_, index) => String(index));
  const { settlements, transcript } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([names.map(note), 'done']),
    tools: { note: noting },
    session,
  });
  expect(settlements).toHaveLength(200);
  expect(session.read(notes)).toEqual(names);
  expectValid(transcript);
});

test.each<[string, Parameters<typeof scriptedModel>[0]]>([
  ['nothing at all', [{ content: [] }]],
  ['an empty text', ['']],
  ['white space', ['\n']],
  ['only a source', [{ content: [{ type: 'source', sourceType: 'url', id: '1', url: 'https://example.com' }] }]],
])('bad input: a reply of %s ends the turn with its text', async (_what, replies) => {
  for (const onEvent of [undefined, () => {}]) {
    const { stop, steps, settlements } = await runTurn({
      model: scriptedModel(replies),
      prompt: 'Hello',
      ...(onEvent === undefined ? {} : { onEvent }),
    });
    expect({ stop, steps, settlements }).toEqual({
      stop: { reason: 'end_turn', by: 'text' },
      steps: 1,
      settlements: [],
    });
  }
});

test('bad input: an empty reply leaves no empty message in the next request', async () => {
  const model = scriptedModel([{ content: [] }, { toolName: 'done' }]);
  const done = tool({ description: 'd', inputSchema: none, execute: () => 'end' });
  await runTurn({ model, tools: { done }, prompt: 'Hello', terminating: { toolIds: ['done'] } });
  expect(model.requests[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'system']);
});

test('bad input: text and calls mixed: the calls run, the text is kept, and the turn goes on', async () => {
  const model = scriptedModel([{ text: 'Let me see.', calls: [note('a')] }, 'done']);
  const { response, steps, transcript } = await runTurn({
    prompt: 'Go.',
    model,
    tools: { note: noting },
    session: createSession({ slices: [notes] }),
  });
  expect({ response, steps }).toEqual({ response: 'done', steps: 2 });
  expect(model.requests[1]?.prompt[1]).toMatchObject({
    role: 'assistant',
    content: [
      { type: 'text', text: 'Let me see.' },
      { type: 'tool-call', input: { what: 'a' } },
    ],
  });
  expectValid(transcript);
});

test('bad input: a middleware that throws fails only its call', async () => {
  const spoil: Middleware = {
    name: 'spoil',
    call: (next, { toolName }) => {
      if (toolName === 'bad') throw new Error('from the middleware');
      return next();
    },
  };
  const { settlements } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[{ toolName: 'bad' }, note('a')], 'done']),
    tools: { note: noting, bad: failing(() => 1) },
    session: createSession({ slices: [notes] }),
    middleware: [spoil],
  });
  expect(statuses(settlements)).toEqual(['error', 'ok']);
});
