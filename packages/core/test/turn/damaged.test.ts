import type { LanguageModelV4Content } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Answer,
  createSession,
  type Entry,
  fail,
  type PendingCall,
  pending,
  rewindTool,
  runTurn,
  StoredTranscriptError,
  type ToolSet,
  Transcript,
  type TurnOptions,
  tool,
} from '../../src/index.ts';
import { memoryJournal } from '../../src/testing/memory-journal.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import { problemOfMessages } from '../../src/testing/valid-history.ts';
import { mutated } from '../mutate-json.ts';

const none = z.object({});
const tools: ToolSet = {
  look: tool({ description: 'L.', inputSchema: none, effects: 'none', keepLatest: 'seen', execute: () => 'seen' }),
  act: tool({
    description: 'A.',
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }) => (n < 0 ? fail('negative') : { n }),
    compensate: () => {},
  }),
  job: tool({
    description: 'J.',
    inputSchema: none,
    effects: 'session',
    execute: () => pending({ expiresInMs: 1e12 }),
  }),
  pay: tool({ description: 'P.', inputSchema: none, approval: true, execute: () => 'paid' }),
  end: tool({ description: 'E.', inputSchema: none, terminal: true, effects: 'none', execute: () => 'ended' }),
  go: tool({
    description: 'G.',
    inputSchema: none,
    transition: true,
    effects: 'none',
    execute: () => ({ to: 'there' }),
  }),
  rewind: rewindTool,
};

const call = (toolName: string, input: unknown = {}) => ({ toolName, input });
const act = (n: number) => call('act', { n });
const back = call('rewind', { reason: 'wrong', guidance: 'otherwise' });

async function turn(script: readonly ScriptedReply[], options: Partial<TurnOptions> = {}): Promise<Transcript> {
  const model = scriptedModel(script);
  const given = { model, tools, newId: sequentialIds(), journal: memoryJournal(), ...options };
  return (await runTurn(options.transcript === undefined ? { prompt: 'go', ...given } : given)).transcript;
}

const provided: LanguageModelV4Content[] = [
  { type: 'reasoning', text: 'hm', providerMetadata: { acme: { signature: 'abc' } } },
  { type: 'tool-call', toolCallId: 'srv', toolName: 'web', input: '{}', providerExecuted: true },
  { type: 'tool-result', toolCallId: 'srv', toolName: 'web', result: { found: 1 } },
  { type: 'tool-call', toolCallId: 'own', toolName: 'look', input: '{}' },
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQI=' } },
];

const said = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'look' },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://a.example/b.png') } },
    ],
  },
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'old', toolName: 'look', input: {} }] },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'old',
        toolName: 'look',
        output: { type: 'content', value: [{ type: 'text', text: 'x' }] },
      },
    ],
  },
] as NonNullable<TurnOptions['messages']>;

/** Transcripts with every kind of entry: complete, waiting, and as after a crash. */
async function richTranscripts(): Promise<Record<string, readonly Entry[]>> {
  const plain = await turn(
    [
      [call('look'), act(1), act(-1), call('nothing'), call('act', { n: 'x' })],
      [call('look'), call('look')],
      { text: 'cut', finishReason: { unified: 'length', raw: undefined } },
      [call('look'), call('end'), call('look')],
    ],
    { messages: said },
  );
  const contract = { toolIds: ['act'], consecutiveNudges: 2 };
  const trimmed = await turn(['Hm.', [call('look'), act(3), call('look')]], { terminating: contract });
  const waiting = await turn([[call('job'), call('pay'), call('look'), call('pay')]]);
  const answers = { 'call-1': { result: { done: true } }, 'call-2': { approve: true } } as const;
  const partly = await turn([], { transcript: Transcript.fromJSON(JSON.stringify(waiting)), answers });
  const going = await turn([[call('job'), call('pay')], 'Later.'], { onPending: 'continue' });
  const late = await turn(['I see.'], {
    transcript: Transcript.fromJSON(JSON.stringify(going)),
    answers: { 'call-1': { error: 'broke' }, 'call-2': { deny: 'no' } },
    prompt: 'well?',
  });
  const rewound = await turn([[act(1), call('look')], [act(2), back], [call('look')], 'Done.'], {
    session: createSession(),
  });
  const provider = await turn([{ content: provided }, [call('go'), call('go')]]);
  const halfway = plain.entries.slice(0, plain.entries.findIndex(({ kind }) => kind === 'settled') + 2);
  const transcripts = {
    plain,
    trimmed,
    waiting,
    partly,
    going,
    late,
    rewound,
    provider,
    halfway: new Transcript(halfway),
  };
  return Object.fromEntries(Object.entries(transcripts).map(([name, one]) => [name, one.toJSON().entries]));
}

/** Continues the transcript as a host would: unchanged, with answers to waiting calls, and with a new prompt. */
async function useOf(transcript: Transcript): Promise<readonly string[]> {
  const problems: string[] = [];
  const go = async (options: Partial<TurnOptions>): Promise<readonly PendingCall[]> => {
    const model = scriptedModel(() => 'Go on.');
    const result = await runTurn({ model, tools, transcript, newId: sequentialIds(), ...options });
    problems.push(...model.requests.flatMap(({ prompt }) => problemOfMessages(prompt) ?? []));
    return result.pending;
  };
  const waiting = transcript.view().length === 0 ? [] : await go({});
  const answers: [string, Answer][] = waiting.map(({ callId, kind }) => [
    callId,
    kind === 'approval' ? { approve: true } : { result: 'ok' },
  ]);
  if (answers.length > 0) await go({ answers: Object.fromEntries(answers) });
  await go({ prompt: 'And now?' });
  Transcript.fromJSON(JSON.stringify(transcript));
  return problems;
}

const RUNS = 1_500;

test(`[R57] ${RUNS} damaged transcripts either continue with valid requests or are refused with a path`, async () => {
  const rich = Object.entries(await richTranscripts());
  const ended = { refused: 0, restored: 0 };
  for (let seed = 1; seed <= RUNS; seed++) {
    const [name, entries] = rich[seed % rich.length] as (typeof rich)[number];
    const { json, faults } = mutated({ version: 1 as const, entries }, seed);
    const what = `${name}, ${faults}`;
    let transcript: Transcript;
    try {
      transcript = Transcript.fromJSON(JSON.stringify(json));
    } catch (error) {
      expect(error, what).toBeInstanceOf(StoredTranscriptError);
      expect((error as StoredTranscriptError).path, what).toMatch(/^(version|transcript|entries)/);
      ended.refused++;
      continue;
    }
    const used = useOf(transcript).catch((error: unknown) => [error instanceof Error ? error.stack : error]);
    expect(await used, what).toEqual([]);
    ended.restored++;
  }
  // Fails for a reader that refuses everything, and for one that accepts everything.
  expect(ended.refused).toBeGreaterThan(RUNS / 4);
  expect(ended.restored).toBeGreaterThan(RUNS / 8);
});

test('[R57] transcripts that turns store are read back, complete and at every prefix', async () => {
  for (const entries of Object.values(await richTranscripts())) {
    const first = entries.findIndex((entry) => entry.kind === 'message' && entry.message.role === 'assistant');
    for (let length = 0; length <= entries.length; length++) {
      // Messages that a host passes together are stored together, so there is no such prefix.
      if (length === first + 1 && first !== -1) continue;
      expect(Transcript.fromJSON({ version: 1, entries: entries.slice(0, length) }).entries).toHaveLength(length);
    }
  }
});

test.each<[string, object]>([
  ['a text without metadata', { type: 'text', text: 'Hm.', providerMetadata: null }],
  ['a thought without text', { type: 'reasoning', text: null }],
  ['a call', { type: 'tool-call', toolCallId: 7, toolName: 'job', input: '{}', providerExecuted: null }],
  ['metadata of a call', { type: 'tool-call', toolCallId: 'a', toolName: 'job', input: '{}', providerMetadata: null }],
  ['a call it ran', { type: 'tool-call', toolCallId: null, toolName: 'find', input: '{}', providerExecuted: true }],
])('[R57] what a model says in a form of its own is read back: %s', async (_, part) => {
  const { entries } = await turn([{ content: [part, { type: 'text', text: 'So.' }] as never }, 'End.']);
  const stored = Transcript.fromJSON(JSON.stringify({ version: 1, entries }));
  expect(stored.entries.map(({ kind }) => kind)).toEqual(entries.map(({ kind }) => kind));
});

test('[R57] a text without words beside a file reaches no provider, also from a stored transcript', async () => {
  const image = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQI=' } } as const;
  const model = scriptedModel(['A dot.', 'Yes.']);
  const content = [{ type: 'text' as const, text: ' ' }, image];
  const { transcript } = await runTurn({ model, messages: [{ role: 'user', content }] });
  await runTurn({ model, prompt: 'Sure?', transcript: Transcript.fromJSON(JSON.stringify(transcript)) });
  for (const { prompt } of model.requests) expect(prompt[0]).toEqual({ role: 'user', content: [image] });
});

test('[R57] half of a surrogate pair reaches no provider, also from a stored transcript', async () => {
  const half = '\ud83d';
  const cut = tool({ description: 'Cuts.', inputSchema: z.looseObject({}), execute: () => `😀 ${half}` });
  const broken = tool({ description: 'Breaks.', inputSchema: z.looseObject({}), execute: () => fail(half) });
  const input = { [half]: [{ text: half }] };
  const calls = ['cut', 'broken', half].map((toolName) => ({ toolName, input }));
  const model = scriptedModel([{ text: half, calls }, 'End.', 'End.']);
  const options = { model, instructions: half, tools: { cut, broken }, observe: () => half };
  const first = await runTurn({ ...options, prompt: `Go ${half}` });
  await runTurn({ ...options, prompt: 'On.', transcript: Transcript.fromJSON(JSON.stringify(first.transcript)) });
  // JSON has such a half as an escape.
  for (const { prompt } of model.requests) expect(JSON.stringify(prompt)).not.toMatch(/\\ud[89a-f]/i);
  expect(JSON.stringify(model.requests[2]?.prompt)).toContain('😀 \ufffd');
});

test('[R57] an answer that JSON cannot hold is stored as null, and read back', async () => {
  const waiting = await turn([call('job')]);
  const transcript = await turn(['Ok.'], { transcript: waiting, answers: { 'call-1': { result: undefined } } });
  const [end] = Transcript.fromJSON(JSON.stringify(transcript)).entries.filter(({ kind }) => kind === 'settled');
  expect(end).toMatchObject({ answer: { result: null } });
});

test('[R57] messages that could not be read back are refused when they are given', async () => {
  const [, , asks, results] = said;
  for (const messages of [[results], [asks, results, results], [asks, { ...results, content: [] }]])
    await expect(turn(['Ok.'], { messages: messages as never })).rejects.toThrow(/messages\[\d\]/);
});

describe('[R57] a stored transcript is refused with the path of the error:', () => {
  const settled = (callId: string, extra: object = {}) => ({
    kind: 'settled',
    settlement: {
      callId,
      toolName: 'look',
      input: {},
      outcome: { status: 'ok', value: 1, text: '1' },
      startedAt: 0,
      endedAt: 0,
    },
    ...extra,
  });
  const reply = (...ids: readonly string[]) => ({
    kind: 'reply',
    step: 1,
    content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'look', input: {} })),
    calls: ids.map((callId) => ({ callId, toolName: 'look', input: '{}' })),
    text: '',
    finishReason: 'tool-calls',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  });
  const [user, assistant, results] = said.slice(1) as unknown as object[];
  const message = (given: object | undefined) => ({ kind: 'message', message: given });
  const cases: Record<string, readonly [path: string, ...entries: readonly object[]]> = {
    'a settlement that nobody asked for': ['entries[1].settlement.callId', reply('a'), settled('b')],
    'a second settlement': ['entries[2].settlement.callId', reply('a'), settled('a'), settled('a')],
    'an id that two calls have': ['entries[2].calls[0].callId', reply('a'), settled('a'), reply('a')],
    'an answer to a call that did not wait': ['entries[1].answer', reply('a'), settled('a', { answer: { result: 1 } })],
    'a late end of a call that did not wait': ['entries[1].late', reply('a'), settled('a', { late: true })],
    'an answer that is none': ['entries[1].answer', reply('a'), settled('a', { answer: {} })],
    'a reply before the calls before it have ended': ['entries[1]', reply('a'), reply('b')],
    'an end before its calls have ended': ['entries[1]', reply('a'), { kind: 'stop', stop: { reason: 'suspended' } }],
    'calls that are not shown': ['entries[0].content', { ...reply('a'), content: [] }],
    'calls that are shown and not asked for': ['entries[0].content', { ...reply('a'), calls: [] }],
    'a start of nothing': ['entries[0].callId', { kind: 'started', callId: 'a' }],
    'a rewind without a checkpoint': [
      'entries[2]',
      reply('a'),
      settled('a'),
      { kind: 'rewind', callId: 'a', text: '', remaining: [] },
    ],
    'a message whose calls have no results': ['entries[1].message.content', message(user), message(assistant)],
    'results of no call': ['entries[1].message.content', message(user), message(results)],
    'a part that no message has': [
      'entries[0].message.content[0].type',
      message({ role: 'user', content: [{ type: 'x' }] }),
    ],
    'a role that nobody has': ['entries[0].message.role', message({ role: 'x', content: [] })],
    'usage that is none': ['entries[0].usage.totalTokens', { ...reply(), usage: { inputTokens: 1, outputTokens: 1 } }],
    'a stop for no known reason': ['entries[0].stop.reason', { kind: 'stop', stop: { reason: 'x' } }],
  };
  for (const [what, [path, ...entries]] of Object.entries(cases)) {
    test(`${what} (${path})`, () => {
      expect(() => Transcript.fromJSON({ version: 1, entries: entries as never })).toThrow(
        expect.objectContaining({ name: 'StoredTranscriptError', code: 'transcript', path }),
      );
    });
  }
});
