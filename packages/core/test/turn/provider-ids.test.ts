import type { LanguageModelV4Content, LanguageModelV4Message } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createSession, pending, rewindTool, runTurn, Transcript, tool } from '../../src/index.ts';
import {
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedReply,
  scriptedModel,
} from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import { problemOfMessages } from '../../src/testing/valid-history.ts';

const none = z.object({});
const look = tool({ description: 'Looks.', inputSchema: none, effects: 'none', execute: () => 'seen' });
const ask = tool({ description: 'Asks.', inputSchema: none, effects: 'none', execute: () => pending() });
const done = tool({ description: 'Ends.', inputSchema: none, terminal: true, execute: () => 'done' });
const tools = { look, ask, done, rewind: rewindTool };

const calling = (...ids: readonly (string | undefined)[]): ScriptedReply => ({
  content: ids.map((toolCallId) => ({
    type: 'tool-call',
    toolCallId: toolCallId as string,
    toolName: 'look',
    input: '{}',
  })),
});

/** A model of another provider. */
const by = (provider: string, replies: readonly ScriptedReply[]): ScriptedModel => ({
  ...scriptedModel(replies),
  provider,
});

/** The ids of calls, each with those of its results, message by message. */
function idsIn(messages: readonly LanguageModelV4Message[] | undefined): string[] {
  return (messages ?? []).flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
  );
}

test("[R56] a provider gets its own ids back; all others see the library's ids", async () => {
  const model = scriptedModel([calling('p1', 'p2'), 'Done.']);
  const { settlements, transcript } = await runTurn({ model, tools, prompt: 'Go.', newId: sequentialIds() });
  expect(idsIn(model.requests[1]?.prompt)).toEqual(['p1', 'p2', 'p1', 'p2']);
  expect(settlements.map(({ callId }) => callId)).toEqual(['call-1', 'call-2']);
  expect(idsIn(transcript.view())).toEqual(['call-1', 'call-2', 'call-1', 'call-2']);
});

test('[R56] a provider gets its own ids back if the reply was streamed', async () => {
  const model = scriptedModel([calling('p1', 'p2'), 'Done.']);
  await runTurn({ model, tools, prompt: 'Go.', onEvent: () => {} });
  expect(idsIn(model.requests[1]?.prompt)).toEqual(['p1', 'p2', 'p1', 'p2']);
});

test("[R56] for an id that is missing, empty or repeated in a reply the library's id is sent; the others stay the provider's", async () => {
  const model = scriptedModel([calling('p1', 'same', undefined, 'same', ''), 'Done.']);
  await runTurn({ model, tools, prompt: 'Go.', newId: sequentialIds() });
  const shown = ['p1', 'call-2', 'call-3', 'call-4', 'call-5'];
  expect(idsIn(model.requests[1]?.prompt)).toEqual([...shown, ...shown]);
});

test("[R56] an id that a later reply repeats is replaced by the library's in the next request, and nothing else changes", async () => {
  const model = scriptedModel([calling('same', 'p1'), calling('p2'), calling('same'), calling('same'), 'Done.']);
  await runTurn({ model, tools, prompt: 'Go.', newId: sequentialIds() });
  const [, second, third, fourth, fifth] = model.requests.map(({ prompt }) => idsIn(prompt));
  expect(second).toEqual(['same', 'p1', 'same', 'p1']);
  expect(third).toEqual(['same', 'p1', 'same', 'p1', 'p2', 'p2']);
  expect(fourth).toEqual(['call-1', 'p1', 'call-1', 'p1', 'p2', 'p2', 'call-4', 'call-4']);
  expect(fifth).toEqual(['call-1', 'p1', 'call-1', 'p1', 'p2', 'p2', 'call-4', 'call-4', 'call-5', 'call-5']);
});

test("[R56] another provider gets the library's ids for calls of others, and each gets its own ids when it is asked again", async () => {
  const newId = sequentialIds();
  const { transcript } = await runTurn({ model: by('one', [calling('a1'), 'Done.']), tools, prompt: 'Go.', newId });
  const other = by('two', [calling('b1'), 'Done.']);
  await runTurn({ model: other, tools, transcript, prompt: 'On.', newId });
  expect(other.requests.map(({ prompt }) => idsIn(prompt))).toEqual([
    ['call-1', 'call-1'],
    ['call-1', 'call-1', 'b1', 'b1'],
  ]);
  const again = by('one', ['Done.']);
  await runTurn({ model: again, tools, transcript, prompt: 'Back.', newId });
  expect(idsIn(again.requests[0]?.prompt)).toEqual(['a1', 'a1', 'call-2', 'call-2']);
});

test("[R56] an id that already means something else in the request is not used: one of the library, the host or a provider's own call", async () => {
  const ours = scriptedModel([calling('call-2', 'p1'), 'Done.']);
  await runTurn({ model: ours, tools, prompt: 'Go.', newId: sequentialIds() });
  expect(idsIn(ours.requests[1]?.prompt)).toEqual(['call-1', 'p1', 'call-1', 'p1']);

  const hosts = scriptedModel([calling('h1'), 'Done.']);
  const given: LanguageModelV4Message[] = [
    { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'h1', toolName: 'look', input: {} }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'h1', toolName: 'look', output: { type: 'text', value: 'seen' } }],
    },
  ];
  await runTurn({ model: hosts, tools, messages: given, newId: sequentialIds() });
  expect(idsIn(hosts.requests[1]?.prompt)).toEqual(['h1', 'h1', 'call-1', 'call-1']);

  const ran = scriptedModel([
    {
      content: [
        { type: 'tool-call', toolCallId: 'x', toolName: 'web', input: '{}', providerExecuted: true },
        { type: 'tool-result', toolCallId: 'x', toolName: 'web', result: 'found' },
        { type: 'tool-call', toolCallId: 'x', toolName: 'look', input: '{}' },
      ],
    },
    'Done.',
  ]);
  await runTurn({ model: ran, tools: { ...tools, web: look }, prompt: 'Go.', newId: sequentialIds() });
  expect(idsIn(ran.requests[1]?.prompt)).toEqual(['x', 'x', 'call-2', 'call-2']);
});

test('[R38] [R56] calls that a provider ran itself are text for another provider, and unchanged for itself', async () => {
  const content: LanguageModelV4Content[] = [
    { type: 'tool-call', toolCallId: 'srv', toolName: 'search', input: '{"for":"x"}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 'srv', toolName: 'search', result: { found: 'y'.repeat(9_000) } },
    { type: 'text', text: 'It is y.' },
    { type: 'tool-call', toolCallId: 'own', toolName: 'look', input: '{}' },
  ];
  const { transcript } = await runTurn({ model: by('acme', [{ content }, 'Done.']), prompt: 'go', tools });
  const stored = Transcript.fromJSON(JSON.stringify(transcript));
  for (const one of [transcript, stored, stored.fork()]) {
    expect(one.viewFor('acme')[1]).toMatchObject({
      content: [{ providerExecuted: true }, { type: 'tool-result' }, {}, {}],
    });
    const [, asked, results] = one.viewFor('other');
    expect(asked?.content).toMatchObject([
      { type: 'text', text: '[Called search {"for":"x"}]\n' },
      { type: 'text', text: expect.stringMatching(/^\[Result of search: \{"found":"y{3000,4000} …\]\n$/) },
      { type: 'text', text: 'It is y.' },
      { type: 'tool-call', toolName: 'look' },
    ]);
    expect(problemOfMessages(asked && results ? [asked, results] : [])).toBeUndefined();
  }
});

test("[R56] the waiting call and its later answer have the same id, which is the library's", async () => {
  const asking: ScriptedReply = { content: [{ type: 'tool-call', toolCallId: 'p1', toolName: 'ask', input: '{}' }] };
  const model = scriptedModel([asking, 'Waiting.', 'Thanks.', calling('p1'), 'Hm.']);
  const options = { model, tools, onPending: 'continue', newId: sequentialIds() } as const;
  const { transcript } = await runTurn({ ...options, prompt: 'Go.' });
  await runTurn({ ...options, transcript, prompt: 'On.', answers: { 'call-1': { result: 'yes' } } });
  const texts = (request: number): string => JSON.stringify(model.requests[request]?.prompt);
  expect(texts(1)).toContain('became pending as call call-1.');
  expect(texts(2)).toContain('became pending as call call-1.');
  expect(texts(2)).toContain('The answer to call call-1 (ask');
  expect(idsIn(model.requests[2]?.prompt)).toEqual(['p1', 'p1']);
  // A repeated id of the provider is not used for any call; the texts stay unchanged.
  await runTurn({ ...options, transcript, prompt: 'And?' });
  expect(texts(4)).toContain('became pending as call call-1.');
  expect(texts(4)).toContain('The answer to call call-1 (ask');
  expect(idsIn(model.requests[4]?.prompt)).toEqual(['call-1', 'call-1', 'call-2', 'call-2']);
});

test('[R56] a cancelled call names the failed one by the id that the model sees', async () => {
  const fails = tool({ description: 'Fails.', inputSchema: none, execute: () => Promise.reject(new Error('no')) });
  const content = ['p1', 'p2'].map((toolCallId) => ({
    type: 'tool-call' as const,
    toolCallId,
    toolName: 'fails',
    input: '{}',
  }));
  const model = scriptedModel([{ content }, 'Done.']);
  await runTurn({ model, tools: { fails }, prompt: 'Go.', batch: { onError: 'cancel-rest' } });
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain('(call p1)');
});

test("[R56] a stored transcript keeps the provider of its ids; an older one without it uses the library's ids", async () => {
  const { transcript } = await runTurn({ model: scriptedModel([calling('p1'), 'Done.']), tools, prompt: 'Go.' });
  const stored = transcript.toJSON();
  const idsAfter = async (entries: (typeof stored)['entries']): Promise<string[]> => {
    const model = scriptedModel(['Done.']);
    await runTurn({ model, tools, transcript: Transcript.fromJSON({ ...stored, entries }), prompt: 'On.' });
    return idsIn(model.requests[0]?.prompt);
  };
  expect(await idsAfter(stored.entries)).toEqual(['p1', 'p1']);
  const older = stored.entries.map((entry) => {
    const { provider: _provider, ...rest } = entry as typeof entry & { provider?: string };
    return rest as typeof entry;
  });
  const ours = idsIn(transcript.view());
  expect(await idsAfter(older)).toEqual(ours);
});

const anId = fc.constantFrom('a', 'b', 'c', 'call-1', 'call-2', 'call-3', '', undefined);
const aCall: fc.Arbitrary<ScriptedCall> = fc.record({
  toolName: fc.constantFrom('look', 'look', 'ask', 'done', 'nonsense', 'rewind'),
  toolCallId: anId as fc.Arbitrary<string>,
  input: fc.constant({ reason: 'r', guidance: 'g' }),
});

test('[R38] [R56] with any ids of providers each request pairs its calls, has each id once, and equals that of a transcript read back', async () => {
  const aTurn = fc.record({
    provider: fc.constantFrom('one', 'two'),
    steps: fc.array(fc.array(aCall, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
    trim: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(aTurn, { minLength: 1, maxLength: 4 }), async (turns) => {
      const transcript = new Transcript();
      const newId = sequentialIds();
      const loose = { look, ask, done, rewind: rewindTool };
      for (const { provider, steps, trim } of turns) {
        const replies: ScriptedReply[] = steps.map((calls) => (request) => {
          // The instructions list the terminal tool, and are not part of the transcript.
          check(request.prompt.slice(1), transcript, provider);
          return {
            content: calls.map((call) => ({
              type: 'tool-call' as const,
              toolCallId: call.toolCallId as string,
              toolName: call.toolName,
              input: JSON.stringify(call.toolName === 'rewind' ? call.input : {}),
            })),
          };
        });
        await runTurn({
          model: by(provider, [...replies, 'Done.', 'Done.', 'Done.']),
          tools: loose,
          transcript,
          session: createSession(),
          prompt: 'Go.',
          onPending: 'continue',
          newId,
          batch: { history: trim ? 'trim' : 'keep' },
        });
      }
    }),
    { numRuns: 150 },
  );
});

function check(sent: readonly LanguageModelV4Message[], { entries }: Transcript, provider: string): void {
  expect(problemOfMessages(sent)).toBeUndefined();
  expect(sent).toEqual(new Transcript(entries).viewFor(provider));
  const asked = sent.flatMap(({ role, content }) => (role === 'assistant' ? idsIn([{ role, content }]) : []));
  expect(new Set(asked).size).toBe(asked.length);
}

test('[R56] a late end that the host itself reports to the model adds no message, and the pending result is unchanged', async () => {
  const asking: ScriptedReply = { content: [{ type: 'tool-call', toolCallId: 'p1', toolName: 'ask', input: '{}' }] };
  const model = scriptedModel([asking, 'Waiting.']);
  const { transcript } = await runTurn({ model, tools, onPending: 'continue', newId: sequentialIds(), prompt: 'Go.' });
  const waiting = transcript.entries.find((entry) => entry.kind === 'pending');
  if (waiting?.kind !== 'pending') throw new Error('The call does not wait.');
  const outcome = { status: 'ok', value: 'yes', text: 'yes' } as const;
  const end = { kind: 'settled', settlement: { ...waiting.settlement, outcome }, late: true, told: true } as const;
  const before = transcript.view();
  const after = Transcript.fromJSON(
    JSON.parse(JSON.stringify(new Transcript([...transcript.entries, { kind: 'turn' }, end]))),
  );
  expect(after.view()).toEqual(before);
  expect(after.progress.waiting.size).toBe(0);
});
