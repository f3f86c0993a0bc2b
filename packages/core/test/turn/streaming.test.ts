import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Middleware, pending, retry, type TurnEvent, tool } from '../../src/index.ts';
import { crashingJournal } from '../../src/testing/crashing-journal.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { EventQueue } from '../../src/turn/event-queue.ts';
import { runTurn } from '../../src/turn/run-turn.ts';
import { streamTurn } from '../../src/turn/stream-turn.ts';

const text = z.object({ text: z.string() });
const echo = tool({ description: 'Echoes.', effects: 'none', inputSchema: text, execute: ({ text }) => text });

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** A model that streams these parts, counting how many were taken from it. */
function partsModel(
  parts: Iterable<LanguageModelV4StreamPart | Record<string, unknown> | null>,
): ScriptedModel & { taken: number } {
  const model = {
    ...scriptedModel([]),
    taken: 0,
    async doStream() {
      const iterator = parts[Symbol.iterator]();
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          pull(controller) {
            const next = iterator.next();
            if (next.done === true) controller.close();
            else controller.enqueue((model.taken++, next.value as LanguageModelV4StreamPart));
          },
        }),
      };
    },
  };
  return model;
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const finish: LanguageModelV4StreamPart = { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage };

function deltas(events: readonly TurnEvent[], type: 'text.delta' | 'reasoning.delta', step: number): string {
  return events
    .filter((event) => event.type === type && event.step === step)
    .map((event) => (event as { text: string }).text)
    .join('');
}

test('[R50] text, reasoning and input deltas concatenate to what is stored', async () => {
  const words = fc.string({ unit: 'grapheme', maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(words, words, fc.array(words, { maxLength: 3 }), async (said, thought, inputs) => {
      const model = scriptedModel([
        {
          content: [
            { type: 'reasoning', text: thought },
            { type: 'text', text: said },
          ],
          calls: inputs.map((input) => ({ toolName: 'echo', input: { text: input } })),
        },
        'end',
      ]);
      const stream = streamTurn({ model, tools: { echo }, prompt: 'go' });
      const events = await all(stream);
      const { transcript } = await stream.result;
      for (const entry of transcript.entries) {
        if (entry.kind !== 'reply') continue;
        const reasoning = entry.content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
        expect(deltas(events, 'text.delta', entry.step)).toBe(entry.text);
        expect(deltas(events, 'reasoning.delta', entry.step)).toBe(reasoning.join(''));
        for (const call of entry.calls) {
          const streamed = events.filter((event) => event.type === 'tool-input-delta' && event.callId === call.callId);
          expect(streamed.map((event) => (event as { delta: string }).delta).join('')).toBe(call.input);
        }
      }
      // A reply is stored in the same way, streamed or not.
      const whole = await runTurn({ model: scriptedModel([{ text: said, content: [] }]), prompt: 'go' });
      expect(whole.response).toBe(said);
    }),
    { numRuns: 40 },
  );
});

test('[R50] the events of a turn come in order, each call with one end', async () => {
  const slow = tool({
    description: 'Tells how it goes.',
    inputSchema: z.object({}),
    async *execute() {
      yield 'half';
      yield 'whole';
    },
  });
  const broken = tool({
    description: 'Breaks.',
    inputSchema: z.object({}),
    execute: () => {
      throw new Error('broken');
    },
  });
  const model = scriptedModel([[{ toolName: 'slow' }, { toolName: 'broken' }, { toolName: 'ask' }], 'bye']);
  const ask = tool({ description: 'Asks.', inputSchema: z.object({}), execute: () => pending() });
  const events = await all(
    streamTurn({ model, tools: { slow, broken, ask }, prompt: 'go', onPending: 'continue', newId: sequentialIds() }),
  );
  const named = events.map((event) => ('callId' in event ? `${event.type} ${event.callId}` : event.type));
  expect(named).toEqual([
    'step.start',
    ...['1', '2', '3'].flatMap((n) => [`tool-input-start call-${n}`, `tool-input-delta call-${n}`]),
    'tool-call.start call-1',
    'tool-call.progress call-1',
    'tool-call.progress call-1',
    'tool-call.complete call-1',
    'tool-call.start call-2',
    'tool-call.error call-2',
    'tool-call.start call-3',
    'tool-call.pending call-3',
    'step.end',
    'step.start',
    'text.delta',
    'step.end',
    'turn.end',
  ]);
});

test('[R50] calls that do not run have one end each too', async () => {
  const done = tool({ description: 'Ends.', terminal: true, inputSchema: text, execute: ({ text }) => text });
  const model = scriptedModel([
    [
      { toolName: 'done', input: { text: 'a' } },
      { toolName: 'done', input: { text: 'b' } },
      { toolName: 'echo', input: { text: 'c' } },
    ],
  ]);
  const events = await all(streamTurn({ model, tools: { done, echo }, prompt: 'go', newId: sequentialIds() }));
  const ends = events.filter(({ type }) => /^tool-call\.(complete|error|skipped|cancelled|pending)$/.test(type));
  expect(ends.map((event) => `${(event as { callId: string }).callId} ${event.type}`)).toEqual([
    'call-1 tool-call.complete',
    'call-2 tool-call.error',
    'call-3 tool-call.skipped',
  ]);
});

test('[R50] turn.end is the last event, whatever ends the turn', async () => {
  const final = Object.assign(new Error('no'), { isRetryable: false });
  const finished = (await runTurn({ model: scriptedModel(['done']), prompt: 'go' })).transcript;
  const streams = {
    text: streamTurn({ model: scriptedModel(['hi']), prompt: 'go' }),
    'a model error': streamTurn({ model: scriptedModel([final]), prompt: 'go' }),
    'an abort': streamTurn({ model: scriptedModel(['hi']), prompt: 'go', signal: AbortSignal.abort() }),
    'a failing journal': streamTurn({ model: scriptedModel(['hi']), prompt: 'go', journal: crashingJournal(3) }),
    'no invocation left': streamTurn({
      model: scriptedModel([[{ toolName: 'echo', input: { text: 'x' } }]]),
      tools: { echo },
      terminating: { toolIds: ['echo'], maxInvocations: 1, consecutiveNudges: 0 },
      prompt: 'go',
    }),
    'options that cannot work': streamTurn({ model: scriptedModel([]), maxSteps: 0, prompt: 'go' }),
    'a model that is none': streamTurn({ model: {} as never, prompt: 'go' }),
    'a signal that is none': streamTurn({ model: scriptedModel(['hi']), signal: 'stop' as never, prompt: 'go' }),
    'a turn that is finished already': streamTurn({ model: scriptedModel([]), transcript: finished }),
  };
  for (const [what, stream] of Object.entries(streams)) {
    const types = (await all(stream)).map(({ type }) => type);
    expect(
      types.filter((type) => type === 'turn.end'),
      what,
    ).toHaveLength(1);
    expect(types.at(-1), what).toBe('turn.end');
    await stream.result.catch(() => {});
  }
});

test('[R50] parts that a provider sends after an abort are dropped, and its stream is cancelled: turn.end stays last', async () => {
  const abort = new AbortController();
  const gate = Promise.withResolvers<void>();
  let sent = 0;
  let isCancelled = false;
  const model = {
    ...scriptedModel([]),
    // Ignores its signal and goes on sending.
    doStream: async () => ({
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        async pull(controller) {
          if (sent++ === 3) await gate.promise;
          controller.enqueue(sent > 10 ? finish : { type: 'text-delta', id: '0', delta: `${sent} ` });
        },
        cancel() {
          isCancelled = true;
        },
      }),
    }),
  };
  const types: string[] = [];
  const turn = runTurn({ model, prompt: 'go', signal: abort.signal, onEvent: ({ type }) => types.push(type) });
  await settled();
  abort.abort();
  expect((await turn).stop).toEqual({ reason: 'aborted' });
  gate.resolve();
  await settled();
  expect(types.at(-1)).toBe('turn.end');
  expect(sent).toBeLessThan(10);
  expect(isCancelled).toBe(true);
});

test('[R50] an abort while a model error waits to be retried ends the turn, and the model is not asked again', async () => {
  const abort = new AbortController();
  const clock = fakeClock();
  const busy = Object.assign(new Error('busy'), { isRetryable: true });
  const model = scriptedModel([busy, 'never']);
  const types: string[] = [];
  const turn = runTurn({ model, prompt: 'go', clock, signal: abort.signal, onEvent: ({ type }) => types.push(type) });
  await settled();
  abort.abort();
  expect((await turn).stop).toEqual({ reason: 'aborted' });
  await settled();
  expect(model.requests).toHaveLength(1);
  expect(types).toEqual(['step.start', 'turn.end']);
});

test('[R50] requests of a middleware after the end emit no events: turn.end stays last', async () => {
  const abort = new AbortController();
  const gate = Promise.withResolvers<void>();
  const stubborn: Middleware = {
    name: 'stubborn',
    async model(next) {
      await next().catch(() => gate.promise);
      return next();
    },
  };
  const types: string[] = [];
  const turn = runTurn({
    model: scriptedModel([new Error('first'), 'second']),
    middleware: [stubborn],
    prompt: 'go',
    signal: abort.signal,
    onEvent: ({ type }) => types.push(type),
  });
  await settled();
  abort.abort();
  expect((await turn).stop).toEqual({ reason: 'aborted' });
  gate.resolve();
  await settled();
  expect(types).toEqual(['step.start', 'turn.end']);
});

test('[R50] a stream that was cut is requested again: the deltas since the last step.start are stored', async () => {
  const clock = fakeClock();
  let asked = 0;
  const model = {
    ...scriptedModel([]),
    doStream: async () => ({
      stream: ReadableStream.from<LanguageModelV4StreamPart>(
        ++asked === 1
          ? [{ type: 'text-delta', id: '0', delta: 'half a sen' }]
          : [{ type: 'text-delta', id: '0', delta: 'a whole sentence' }, finish],
      ),
    }),
  };
  const events: TurnEvent[] = [];
  const turn = runTurn({ model, prompt: 'go', clock, onEvent: (event) => events.push(event) });
  await settled();
  await clock.advance(60_000);
  const { response } = await turn;
  const since = events.slice(events.findLastIndex(({ type }) => type === 'step.start'));
  expect(deltas(since, 'text.delta', 1)).toBe(response);
  expect(response).toBe('a whole sentence');
});

test('[R50] a request that a middleware repeats is another attempt of its step, also for what is stored', async () => {
  let asked = 0;
  const model = {
    ...scriptedModel([]),
    doStream: async () => {
      const delta: LanguageModelV4StreamPart = { type: 'text-delta', id: '0', delta: 'hello' };
      return { stream: ReadableStream.from(++asked < 4 ? [delta] : [delta, finish]) };
    },
  };
  const clock = { now: () => 0, sleep: async () => {} };
  const middleware = [retry({ attempts: 2, clock })];
  const stream = streamTurn({ model, prompt: 'go', middleware, modelRetries: 1, clock });
  const attempts = (await all(stream)).flatMap((event) => (event.type === 'step.start' ? [event.attempt] : []));
  expect(attempts).toEqual([1, 2, 3, 4]);
  const { transcript } = await stream.result;
  expect(transcript.entries.find(({ kind }) => kind === 'reply')).toMatchObject({ text: 'hello', attempts: 4 });
});

test('[R51] a consumer that stops reading stops the turn', async () => {
  const model = scriptedModel([[{ toolName: 'wait' }], 'never']);
  let signal: AbortSignal | undefined;
  const wait = tool({
    description: 'Waits for its signal.',
    inputSchema: z.object({}),
    execute(_, { abortSignal }) {
      signal = abortSignal;
      return new Promise(() => {});
    },
  });
  const stream = streamTurn({ model, tools: { wait }, prompt: 'go' });
  for await (const { type } of stream) if (type === 'tool-call.start') break;
  const result = await stream.result;
  expect(result.stop).toEqual({ reason: 'aborted' });
  expect(result.settlements).toMatchObject([{ outcome: { status: 'error', code: 'aborted' } }]);
  expect(model.requests).toHaveLength(1);
  expect(signal?.aborted ?? true).toBe(true);
});

test('[R51] a consumer that throws stops the turn too', async () => {
  const stream = streamTurn({ model: partsModel(endless()), prompt: 'go' });
  const reading = (async () => {
    for await (const { type } of stream) if (type === 'text.delta') throw new Error('enough');
  })();
  await expect(reading).rejects.toThrow('enough');
  expect((await stream.result).stop).toEqual({ reason: 'aborted' });
});

function* endless(): Generator<LanguageModelV4StreamPart> {
  for (;;) yield { type: 'text-delta', id: '0', delta: 'word ' };
}

test('[R51] a slow consumer slows the model: no more parts are taken than fit', async () => {
  const model = partsModel(endless());
  const stream = streamTurn({ model, prompt: 'go' });
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  // The reader does not read, so no more parts are taken, even after the event loop has done its work.
  for (let turn = 0; turn < 50; turn++) await settled();
  const taken = model.taken;
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(100);
  for (let turn = 0; turn < 50; turn++) await settled();
  expect(model.taken).toBe(taken);
  for (let read = 0; read < 500; read++) await events.next();
  expect(model.taken).toBeGreaterThan(400);
  await events.return?.();
  expect((await stream.result).stop).toEqual({ reason: 'aborted' });
});

test('[R51] a slow consumer slows tools that report progress, also parallel ones', async () => {
  const yields: Record<string, number> = { a: 0, b: 0 };
  const chatty = tool({
    description: 'Yields without end.',
    effects: 'none',
    inputSchema: text,
    async *execute({ text }) {
      for (;;) {
        yields[text] = (yields[text] ?? 0) + 1;
        yield yields[text];
      }
    },
  });
  const model = scriptedModel([['a', 'b'].map((text) => ({ toolName: 'chatty', input: { text } }))]);
  const stream = streamTurn({ model, tools: { chatty }, prompt: 'go' });
  const events = stream[Symbol.asyncIterator]();
  while ((await events.next()).value.type !== 'tool-call.progress');
  for (let turn = 0; turn < 50; turn++) await settled();
  const before = { ...yields };
  expect((before.a ?? 0) + (before.b ?? 0)).toBeLessThan(200);
  for (let read = 0; read < 500; read++) await events.next();
  // Both tools continue.
  expect(yields.a).toBeGreaterThan(before.a ?? 0);
  expect(yields.b).toBeGreaterThan(before.b ?? 0);
  await events.return?.();
  expect((await stream.result).stop).toEqual({ reason: 'aborted' });
});

test('[R51] a consumer that never reads again does not prevent an abort from ending the turn', async () => {
  const abort = new AbortController();
  const stream = streamTurn({ model: partsModel(endless()), prompt: 'go', signal: abort.signal });
  await stream[Symbol.asyncIterator]().next();
  for (let turn = 0; turn < 10; turn++) await settled();
  abort.abort();
  expect((await stream.result).stop).toEqual({ reason: 'aborted' });
});

test('[R51] awaiting only the result drains the stream', async () => {
  const long = Array.from(
    { length: 5_000 },
    (): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '0', delta: 'x' }),
  );
  const stream = streamTurn({ model: partsModel([...long, finish]), prompt: 'go' });
  expect((await stream.result).response).toHaveLength(5_000);
});

test('[R51] a reader that takes the result first and reads the events next misses none', async () => {
  const stream = streamTurn({ model: scriptedModel(['hi']), prompt: 'go' });
  const { result } = stream;
  const types = (await all(stream)).map(({ type }) => type);
  expect(types).toEqual(['step.start', 'text.delta', 'step.end', 'turn.end']);
  expect((await result).response).toBe('hi');

  const refused = streamTurn({ model: scriptedModel([]), maxSteps: 0, prompt: 'go' });
  const rejection = expect(refused.result).rejects.toThrow('maxSteps');
  expect((await all(refused)).map(({ type }) => type)).toEqual(['turn.end']);
  await rejection;
});

test('[R51] options that cannot work are refused as runTurn refuses them', async () => {
  const model = scriptedModel([]);
  const bad = { onEvent: 'listen', signal: 'stop', observe: 1 } as const;
  for (const [field, value] of Object.entries(bad)) {
    const { result } = streamTurn({ model, prompt: 'go', [field]: value as never });
    await expect(result, field).rejects.toThrow(`Option "${field}"`);
  }
});

test('[R51] a stream that is not read starts nothing', async () => {
  const model = scriptedModel(['hi']);
  streamTurn({ model, prompt: 'go' });
  await settled();
  expect(model.requests).toHaveLength(0);
});

test('[R51] the caller’s own listener gets the same events', async () => {
  const heard: string[] = [];
  const stream = streamTurn({ model: scriptedModel(['hi']), prompt: 'go', onEvent: ({ type }) => heard.push(type) });
  expect((await all(stream)).map(({ type }) => type)).toEqual(heard);
});

test('[R51] a rejection that is not read is not an unhandled rejection', async () => {
  const source = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
  const script = `
    import { streamTurn } from ${JSON.stringify(source)};
    const broken = { specificationVersion: 'v4', provider: 'x', modelId: 'x', supportedUrls: {},
      doGenerate: async () => { throw new Error('broken'); }, doStream: async () => { throw new Error('broken'); } };
    const read = [];
    for await (const event of streamTurn({ model: broken, prompt: 'go' })) read.push(event.type);
    for await (const event of streamTurn({ model: broken, prompt: 'go', maxSteps: 0 })) read.push(event.type);
    streamTurn({ model: broken, prompt: 'go' })[Symbol.asyncIterator]();
    streamTurn({ model: broken, prompt: 'go' }).result;
    for await (const event of streamTurn({ model: broken, prompt: 'go' })) break;
    setImmediate(() => setImmediate(() => console.log(read.join(' '))));
  `;
  const args = ['--unhandled-rejections=strict', '--input-type=module', '--eval', script];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  expect(stderr).not.toContain('broken');
  expect(stdout.trim()).toBe('step.start turn.end turn.end');
});

test('[R51] readers that read ahead each get a different event, and all writers are woken', async () => {
  const channel = new EventQueue<number>();
  channel.open();
  const asked = [channel.next(), channel.next(), channel.next()];
  channel.push(1);
  channel.push(2);
  channel.close();
  expect(await Promise.all(asked)).toEqual([
    { done: false, value: 1 },
    { done: false, value: 2 },
    { done: true, value: undefined },
  ]);

  const full = new EventQueue<number>();
  full.open();
  for (let event = 0; event < 64; event++) full.push(event);
  const writers = [full.ready(), full.ready()];
  expect(writers.every((writer) => writer !== undefined)).toBe(true);
  await full.next();
  await Promise.all(writers);
  expect(full.ready()).toBeUndefined();
});

test('[R51] a reader that leaves wakes the writers that wait for it', async () => {
  const full = new EventQueue<number>();
  full.open();
  for (let event = 0; event < 64; event++) full.push(event);
  const writers = [full.ready(), full.ready()];
  full.leave();
  let isAwake = false;
  void Promise.all(writers).then(() => {
    isAwake = true;
  });
  await settled();
  expect(isAwake).toBe(true);
});

test('[R52] unknown parts are skipped', async () => {
  const unknown = [
    { type: 'stream-start', warnings: [] },
    { type: 'hologram-start', id: '0' },
    { type: 'response-metadata', id: 'r' },
    { type: 'text-start', id: '0' },
    { type: 'hologram-delta', id: '0', delta: 'blue' },
    { type: 'text-delta', id: '0', delta: 'hel' },
    { type: 'raw', rawValue: { a: 1 } },
    { type: 'text-delta', id: '0', delta: 'lo' },
    {},
    null,
    { type: 'text-end', id: '0' },
    { type: 'hologram-end', id: '0' },
    finish,
  ];
  const stream = streamTurn({ model: partsModel(unknown), prompt: 'go' });
  const events = await all(stream);
  expect(deltas(events, 'text.delta', 1)).toBe('hello');
  expect((await stream.result).response).toBe('hello');
});

test('[R52] unknown parts of a reply that is not streamed are skipped too, and not sent back', async () => {
  const content = [
    { type: 'hologram', colour: 'blue' },
    { type: 'text', text: 'hello' },
  ] as never;
  const result = await runTurn({ model: scriptedModel([{ content }]), prompt: 'go' });
  expect(result.response).toBe('hello');
  expect(result.transcript.view().at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'hello' }] });
});

test('[R39] [R52] metadata of text and reasoning that share an id stays with each', async () => {
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'text-start', id: '0' },
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'hm' },
    { type: 'text-delta', id: '0', delta: 'hi' },
    { type: 'reasoning-end', id: '0', providerMetadata: { p: { signature: 's' } } },
    { type: 'text-end', id: '0', providerMetadata: { p: { cached: true } } },
    finish,
  ];
  const { transcript } = await streamTurn({ model: partsModel(parts), prompt: 'go' }).result;
  expect(Transcript.fromJSON(JSON.stringify(transcript)).view().at(-1)).toEqual({
    role: 'assistant',
    content: [
      { type: 'text', text: 'hi', providerOptions: { p: { cached: true } } },
      { type: 'reasoning', text: 'hm', providerOptions: { p: { signature: 's' } } },
    ],
  });
});
