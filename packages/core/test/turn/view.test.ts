import type { LanguageModelV4Content, LanguageModelV4Message } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createSession, fail, rewindTool, runTurn, type ToolSet, tool } from '../../src/index.ts';
import { type ScriptedCall, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import type { Entry } from '../../src/transcript/entry.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { streamTurn } from '../../src/turn/stream-turn.ts';

const what = z.object({ what: z.string() });

/** Returns its input, in the slot "screen". */
const look = tool({
  description: 'Looks.',
  inputSchema: what,
  effects: 'none',
  keepLatest: 'screen',
  execute: (input) => `screen ${input.what}`,
});
const echo = tool({ description: 'Echoes.', inputSchema: what, effects: 'none', execute: (input) => input.what });

const call = (toolName: string, text: string): ScriptedCall => ({ toolName, input: { what: text } });
const MARKER = '[An older result, left out: a newer one follows.]';

/** The texts of the results in a list of messages, in order. */
function results(messages: readonly LanguageModelV4Message[] = []): unknown[] {
  return messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.map((part) =>
          part.type === 'tool-result' && 'value' in part.output ? part.output.value : part.type,
        )
      : [],
  );
}

function shown(model: ScriptedModel, request: number): unknown[] {
  return results(model.requests[request]?.prompt);
}

test('[R36] across steps only the newest result of a slot is complete, from the next request on', async () => {
  const model = scriptedModel([call('look', 'a'), call('echo', 'x'), call('look', 'b'), call('look', 'c'), 'Done.']);
  const { transcript } = await runTurn({ model, prompt: 'go', tools: { look, echo } });
  expect(shown(model, 1)).toEqual(['screen a']);
  expect(shown(model, 2)).toEqual(['screen a', 'x']);
  expect(shown(model, 3)).toEqual([MARKER, 'x', 'screen b']);
  expect(shown(model, 4)).toEqual([MARKER, 'x', MARKER, 'screen c']);
  const kept = transcript.entries.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement.outcome.text] : []));
  expect(kept).toEqual(['screen a', 'x', 'screen b', 'screen c']);
});

test('[R36] within a batch the last call of a slot is complete, even if an earlier one takes longer', async () => {
  const first = Promise.withResolvers<void>();
  const slow = tool({
    description: 'Looks, the first time for as long as the second time takes.',
    inputSchema: what,
    effects: 'none',
    keepLatest: 'screen',
    async execute(input) {
      if (input.what === 'a') await first.promise;
      else first.resolve();
      return `screen ${input.what}`;
    },
  });
  const model = scriptedModel([[call('slow', 'a'), call('echo', 'x'), call('slow', 'b')], 'Done.']);
  await runTurn({ model, prompt: 'go', tools: { slow, echo } });
  expect(shown(model, 1)).toEqual([MARKER, 'x', 'screen b']);
});

test('[R36] tools share a slot by its name, and slots of other names are untouched', async () => {
  const map = tool({ description: 'Maps.', inputSchema: what, keepLatest: 'screen', execute: () => 'map' });
  const news = tool({ description: 'News.', inputSchema: what, keepLatest: 'news', execute: () => 'news' });
  const model = scriptedModel([[call('look', 'a'), call('news', ''), call('map', '')], call('news', ''), 'Done.']);
  await runTurn({ model, prompt: 'go', tools: { look, map, news } });
  expect(shown(model, 1)).toEqual([MARKER, 'news', 'map']);
  expect(shown(model, 2)).toEqual([MARKER, MARKER, 'map', 'news']);
});

test('[R36] a failure neither takes a slot nor is condensed', async () => {
  const flaky = tool({
    description: 'Fails where told.',
    inputSchema: what,
    keepLatest: 'screen',
    execute: (input) => (input.what === 'bad' ? fail('no screen') : `screen ${input.what}`),
  });
  const model = scriptedModel([
    call('flaky', 'a'),
    call('flaky', 'bad'),
    call('flaky', 'b'),
    call('flaky', 'bad'),
    'Done.',
  ]);
  await runTurn({ model, prompt: 'go', tools: { flaky } });
  expect(shown(model, 2)).toEqual(['screen a', 'no screen']);
  expect(shown(model, 4)).toEqual([MARKER, 'no screen', 'screen b', 'no screen']);
});

test('[R36] a transcript read back is condensed like the original, and later results too', async () => {
  const first = await runTurn({
    model: scriptedModel([call('look', 'a'), call('look', 'b'), 'Done.']),
    prompt: 'go',
    tools: { look },
  });
  const stored = Transcript.fromJSON(JSON.stringify(first.transcript));
  expect(results(stored.view())).toEqual([MARKER, 'screen b']);
  const model = scriptedModel([call('look', 'c'), 'Done.']);
  await runTurn({ model, prompt: 'on', transcript: stored, tools: { look } });
  expect(shown(model, 0)).toEqual([MARKER, 'screen b']);
  expect(shown(model, 1)).toEqual([MARKER, MARKER, 'screen c']);
});

test('[R36] a result that was condensed because of one that was rewound is complete again, and can be condensed again', async () => {
  const tools: ToolSet = { look, rewind: rewindTool };
  const back: ScriptedCall = { toolName: 'rewind', input: { reason: 'r', guidance: 'g' } };
  const first = await runTurn({ model: scriptedModel([call('look', 'a'), 'Done.']), prompt: 'one', tools });
  const model = scriptedModel([call('look', 'b'), [call('look', 'c'), back], call('look', 'd'), 'Done.']);
  const second = await runTurn({ model, prompt: 'two', transcript: first.transcript, tools });
  expect(shown(model, 1)).toEqual([MARKER, 'screen b']);
  expect(shown(model, 2)).toEqual(['screen a']);
  expect(shown(model, 3)).toEqual([MARKER, 'screen d']);
  expect(Transcript.fromJSON(JSON.stringify(second.transcript)).view()).toEqual(second.transcript.view());
});

test('[R36] an image is condensed with its text', async () => {
  const photo = {
    description: 'Photographs.',
    inputSchema: what,
    keepLatest: 'photo',
    execute: async (input: { what: string }) => input.what,
    toModelOutput: ({ output }: { output: string }) => ({
      type: 'content' as const,
      value: [
        { type: 'text' as const, text: output },
        { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: 'AAAA' } },
      ],
    }),
  };
  const model = scriptedModel([call('photo', 'a'), call('photo', 'b'), 'Done.']);
  await runTurn({ model, prompt: 'go', tools: { photo } as never });
  expect(shown(model, 1)).toEqual([expect.arrayContaining([expect.objectContaining({ type: 'file' })])]);
  expect(shown(model, 2)).toEqual([
    MARKER,
    expect.arrayContaining([expect.objectContaining({ text: 'b' }), expect.objectContaining({ type: 'file' })]),
  ]);
});

test('[R37] the observation is the last message of each request and is not stored', async () => {
  let looked = 0;
  const model = scriptedModel([call('echo', 'a'), call('echo', 'b'), 'Done.']);
  const { transcript } = await runTurn({
    model,
    prompt: 'go',
    tools: { echo },
    observe: () => `look ${++looked}`,
  });
  const lasts = model.requests.map(({ prompt }) => prompt.at(-1));
  expect(lasts).toEqual(
    [1, 2, 3].map((number) => ({ role: 'user', content: [{ type: 'text', text: `look ${number}` }] })),
  );
  expect(model.requests.map(({ prompt }) => JSON.stringify(prompt).match(/look \d/g)?.length)).toEqual([1, 1, 1]);
  expect(JSON.stringify(transcript)).not.toContain('look');
  expect(JSON.stringify(transcript.view())).not.toContain('look');
});

test('[R37] an empty observation adds no message, and one that throws does not end the turn', async () => {
  const model = scriptedModel([call('echo', 'a'), 'Done.']);
  const errors: unknown[] = [];
  let asked = 0;
  const result = await runTurn({
    model,
    prompt: 'go',
    tools: { echo },
    logger: { debug() {}, info() {}, warn() {}, error: (...all: unknown[]) => void errors.push(all) },
    observe: () => {
      if (++asked === 1) return '';
      throw new Error('blind');
    },
  });
  expect(result.response).toBe('Done.');
  expect(model.requests.map(({ prompt }) => prompt.length)).toEqual([1, 3]);
  expect(errors).toHaveLength(1);
});

const thought = { google: { thoughtSignature: 'sig-1' } };
const rich: readonly LanguageModelV4Content[] = [
  { type: 'reasoning', text: 'I think', providerMetadata: thought },
  { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'xyz' } } },
  { type: 'text', text: 'Let me look.', providerMetadata: { openai: { itemId: 'msg_1' } } },
  { type: 'text', text: '', providerMetadata: { google: { thoughtSignature: 'sig-2' } } },
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' }, providerMetadata: thought },
  { type: 'custom', kind: 'acme.note', providerMetadata: { acme: { id: 'c1' } } },
  {
    type: 'tool-call',
    toolCallId: 'p1',
    toolName: 'echo',
    input: '{"what":"a"}',
    providerMetadata: { google: { thoughtSignature: 'sig-3' } },
  },
];
const richBack = [
  { type: 'reasoning', text: 'I think', providerOptions: thought },
  { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'xyz' } } },
  { type: 'text', text: 'Let me look.', providerOptions: { openai: { itemId: 'msg_1' } } },
  { type: 'text', text: '', providerOptions: { google: { thoughtSignature: 'sig-2' } } },
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' }, providerOptions: thought },
  { type: 'custom', kind: 'acme.note', providerOptions: { acme: { id: 'c1' } } },
  {
    type: 'tool-call',
    toolCallId: 'p1',
    toolName: 'echo',
    input: { what: 'a' },
    providerOptions: { google: { thoughtSignature: 'sig-3' } },
  },
];

test('[R39] metadata of text, reasoning, files and calls is sent back unchanged', async () => {
  const model = scriptedModel([{ content: rich }, call('echo', 'b'), 'Done.']);
  const { transcript } = await runTurn({ model, prompt: 'go', tools: { echo }, newId: sequentialIds() });
  for (const request of [1, 2]) expect(model.requests[request]?.prompt[1]?.content).toEqual(richBack);
  expect(Transcript.fromJSON(JSON.stringify(transcript)).viewFor(model.provider)[1]?.content).toEqual(richBack);
});

test('[R39] metadata is sent back unchanged if the reply was streamed', async () => {
  const model = scriptedModel([{ content: rich }, 'Done.']);
  await streamTurn({ model, prompt: 'go', tools: { echo }, newId: sequentialIds(), onEvent() {} }).result;
  expect(model.requests[1]?.prompt[1]?.content).toEqual(richBack);
});

test('[R39] generated bytes are stored as text and sent back', async () => {
  const bytes = new Uint8Array([0, 1, 2, 253, 254, 255]);
  const reply: readonly LanguageModelV4Content[] = [
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes }, providerMetadata: thought },
    { type: 'tool-call', toolCallId: 'p1', toolName: 'echo', input: '{"what":"a"}' },
  ];
  const model = scriptedModel([{ content: reply }, 'Done.']);
  const { transcript } = await runTurn({ model, prompt: 'go', tools: { echo }, newId: sequentialIds() });
  const stored = Transcript.fromJSON(JSON.stringify(transcript)).viewFor(model.provider)[1]?.content;
  expect(stored).toEqual(model.requests[1]?.prompt[1]?.content);
  expect(stored?.[0]).toEqual({
    type: 'file',
    mediaType: 'image/png',
    data: { type: 'data', data: 'AAEC/f7/' },
    providerOptions: thought,
  });
});

test('[R39] options on messages of the host are passed on unchanged', async () => {
  const cached: LanguageModelV4Message = {
    role: 'user',
    content: [{ type: 'text', text: 'long', providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }],
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  };
  const model = scriptedModel([call('echo', 'a'), 'Done.']);
  await runTurn({ model, messages: [cached], tools: { echo } });
  expect(model.requests.map(({ prompt }) => prompt[0])).toEqual([cached, cached]);
});

test('[R40] a request shares every earlier message with the request before it: nothing is derived twice', async () => {
  const STEPS = 40;
  const model = scriptedModel((_request, step) =>
    step <= STEPS ? [call('echo', `${step}`), call('echo', `${step}!`)] : 'Done.',
  );
  await runTurn({ model, prompt: 'go', tools: { echo }, maxSteps: STEPS + 1 });
  for (const [index, { prompt }] of model.requests.entries()) {
    const before = model.requests[index - 1]?.prompt ?? [];
    expect(prompt).toHaveLength(1 + index * 2);
    expect(before.every((message, at) => message === prompt[at])).toBe(true);
  }
});

test('[R40] condensing changes only the step that is condensed', async () => {
  const model = scriptedModel((_request, step) => (step <= 20 ? call('look', `${step}`) : 'Done.'));
  await runTurn({ model, prompt: 'go', tools: { look } });
  for (const [index, { prompt }] of model.requests.entries()) {
    const before = model.requests[index - 1]?.prompt ?? [];
    const changed = before.flatMap((message, at) => (message === prompt[at] ? [] : [at]));
    expect(changed).toEqual(index < 2 ? [] : [before.length - 1]);
  }
});

test('[R40] earlier entries are read when a turn is resumed, and in no later step', async () => {
  let reads = 0;
  const counted = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, key) {
        reads++;
        const field: unknown = Reflect.get(target, key);
        return typeof field === 'object' && field !== null && Object.isExtensible(field) ? counted(field) : field;
      },
    });
  const past = await runTurn({
    model: scriptedModel((_request, step) => (step <= 10 ? call('look', `${step}`) : 'Done.')),
    prompt: 'go',
    tools: { look },
    session: createSession(),
  });
  const transcript = new Transcript(past.transcript.entries.map((entry): Entry => counted(entry)));
  const atRequest: number[] = [];
  const model = scriptedModel((_request, step) => {
    atRequest.push(reads);
    return step <= 10 ? [call('echo', 'x'), call('echo', 'y')] : 'Done.';
  });
  await runTurn({
    model,
    prompt: 'on',
    transcript,
    tools: { echo, rewind: rewindTool },
    budget: { tokens: 1_000_000, toolCalls: 1_000 },
  });
  expect(reads).toBeGreaterThan(0);
  expect(new Set(atRequest).size).toBe(1);
});

test('[R40] a later step does not read earlier settlements of this turn again', async () => {
  let reads = 0;
  const value = { text: 'big' };
  const spied = tool({
    description: 'Gives an object that counts how often it is read.',
    inputSchema: what,
    effects: 'none',
    execute: () =>
      new Proxy(value, {
        get(target, key) {
          reads++;
          return Reflect.get(target, key);
        },
      }),
  });
  const perStep: number[] = [];
  const model = scriptedModel((_request, step) => {
    perStep.push(reads);
    reads = 0;
    return step <= 20 ? call('spied', 'x') : 'Done.';
  });
  await runTurn({ model, prompt: 'go', tools: { spied }, budget: { tokens: 1_000_000, toolCalls: 1_000 } });
  expect(new Set(perStep.slice(1)).size).toBe(1);
});

test('[R38] a tool that changes its arguments does not change the call that the model sees', async () => {
  const spoil = tool({
    description: 'Spoils what it gets.',
    inputSchema: z.object({ list: z.any() }),
    execute: ({ list }) => {
      list.push('spoiled');
      return list.length;
    },
  });
  const model = scriptedModel([[{ toolName: 'spoil', input: { list: ['kept', { deep: 1 }] } }], 'Done.']);
  const { transcript } = await runTurn({ model, prompt: 'Go.', tools: { spoil } });
  const wrote = { list: ['kept', { deep: 1 }] };
  const assistant = model.requests[1]?.prompt.find(({ role }) => role === 'assistant');
  expect(assistant?.content).toMatchObject([{ type: 'tool-call', input: wrote }]);
  expect(transcript.entries.find(({ kind }) => kind === 'reply')).toMatchObject({ content: [{ input: wrote }] });
});

test('what a turn shows after a rewind is as safe from changes through a fork as what came before', async () => {
  const transcript = new Transcript();
  const said = (text: string): Entry => ({
    kind: 'message',
    message: { role: 'user', content: [{ type: 'text', text }] },
  });
  transcript.push({ kind: 'turn' }, said('Go.'), { kind: 'checkpoint' }, said('One.'), said('Two.'));
  transcript.fork();
  transcript.push({ kind: 'rewind', callId: 'r', text: 'Again.', remaining: [] }, said('Three.'));
  const fork = transcript.fork();
  for (const { content } of fork.shownTo('any')) expect(Object.isFrozen(content)).toBe(true);
});
