import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { TurnResult } from '../../src/contract/turn-result.ts';
import {
  type Answer,
  createSession,
  fail,
  type Policy,
  pending,
  repair,
  type SessionEvent,
  slice,
  type ToolSet,
  tool,
} from '../../src/index.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import { lateAnswerMessage } from '../../src/transcript/late-answer.ts';
import type { Stop } from '../../src/transcript/stop.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { runTurn } from '../../src/turn/run-turn.ts';

const text = z.object({ text: z.string() });
const suspended: Stop = { reason: 'suspended' };
const ask = tool({ description: 'Asks somebody.', inputSchema: text, execute: () => pending() });
const echo = tool({ description: 'Echoes.', effects: 'none', inputSchema: text, execute: ({ text }) => text });

/** A tool that records its runs. */
function recorder(extra: { approval?: boolean } = {}) {
  const ran: unknown[] = [];
  const act = tool({
    description: 'Acts.',
    inputSchema: z.object({ n: z.number() }),
    ...extra,
    execute(input) {
      ran.push(input);
      return `acted ${input.n}`;
    },
  });
  return { act, ran };
}

function statuses({ settlements }: TurnResult): string[] {
  return settlements.map(({ callId, outcome }) => `${callId} ${outcome.status}`).sort();
}

/** The result of each call in the view of the model, by call id. */
function shown(transcript: Transcript): Record<string, unknown> {
  const parts = transcript.view().flatMap((message) => (message.role === 'tool' ? message.content : []));
  return Object.fromEntries(
    parts.map((part) => [
      (part as { toolCallId: string }).toolCallId,
      (part as { output: { value: unknown } }).output.value,
    ]),
  );
}

test('[R43] a pending call suspends the turn once the rest of its batch is settled', async () => {
  const model = scriptedModel([
    [
      { toolName: 'ask', input: { text: 'q' } },
      { toolName: 'echo', input: { text: 'e' } },
    ],
  ]);
  const result = await runTurn({ model, prompt: 'go', tools: { ask, echo }, newId: sequentialIds() });
  expect(result.stop).toEqual(suspended);
  expect(statuses(result)).toEqual(['call-2 ok']);
  expect(result.pending).toEqual([{ callId: 'call-1', kind: 'result', toolName: 'ask', input: { text: 'q' } }]);
  expect(result.response).toBe('');
});

test('[R43] the answer becomes the result of the call, and the model never sees that it was pending', async () => {
  const model = scriptedModel([[{ toolName: 'ask', input: { text: 'q' } }], 'thanks']);
  const first = await runTurn({ model, prompt: 'go', tools: { ask }, newId: sequentialIds() });
  const { transcript } = first;
  const second = await runTurn({ model, transcript, tools: { ask }, answers: { 'call-1': { result: 'forty-two' } } });
  expect(second).toMatchObject({ response: 'thanks', pending: [], steps: 2 });
  expect(statuses(second)).toEqual(['call-1 ok']);
  expect(JSON.stringify(model.requests[1]?.prompt)).not.toContain('pending');
  expect(shown(transcript)).toEqual({ 'call-1': 'forty-two' });
});

test('[R43] pending is not a settlement: no end of the call is emitted until it is answered', async () => {
  const told: string[] = [];
  const session = createSession();
  session.subscribe('ToolInvoked', ({ callId, outcome }) => told.push(`${callId} ${outcome.status}`));
  const model = scriptedModel([[{ toolName: 'ask', input: { text: 'q' } }], 'end']);
  const { transcript } = await runTurn({ model, prompt: 'go', tools: { ask }, session, newId: sequentialIds() });
  expect(told).toEqual([]);
  await runTurn({ model, transcript, tools: { ask }, session, answers: { 'call-1': { error: 'nobody there' } } });
  expect(told).toEqual(['call-1 error']);
});

describe('[R43] an answer to a stored call counts', () => {
  const stored = async (old: ToolSet): Promise<Transcript> => {
    const model = scriptedModel([{ toolName: 'ask', input: { text: 'q' } }]);
    const { transcript } = await runTurn({ model, prompt: 'go', tools: old, newId: sequentialIds() });
    return Transcript.fromJSON(JSON.stringify(transcript));
  };
  const changed = tool({
    description: 'Asks.',
    inputSchema: z.object({ question: z.string() }),
    execute: () => pending(),
  });
  const answered = async (old: ToolSet, tools: ToolSet, answer: Answer): Promise<unknown> => {
    const transcript = await stored(old);
    const result = await runTurn({ model: scriptedModel(['end']), transcript, tools, answers: { 'call-1': answer } });
    expect(result).toMatchObject({ pending: [], settlements: [{ callId: 'call-1', input: { text: 'q' } }] });
    return shown(transcript)['call-1'];
  };

  test.each<[string, ToolSet]>([
    ['takes other arguments now', { ask: changed }],
    ['is gone', {}],
  ])('although its tool %s: a result, an error and a denial', async (_, tools) => {
    expect(await answered({ ask }, tools, { result: 'forty-two' })).toBe('forty-two');
    expect(await answered({ ask }, tools, { error: 'nobody there' })).toBe('nobody there');
    const guarded = { ask: { ...ask, approval: true } };
    expect(await answered(guarded, tools, { deny: 'too late' })).toBe('"ask" was denied: too late');
  });

  test('and policies of the turn are still asked about it', async () => {
    const transcript = await stored({ ask });
    const silent: Policy = { name: 'silent', afterCall: () => ({ deny: 'not that word' }) };
    const answers = { 'call-1': { result: 'forty-two' } };
    await runTurn({ model: scriptedModel(['end']), transcript, tools: {}, policies: [silent], answers });
    expect(shown(transcript)['call-1']).toContain('not that word');
  });

  test('except for an approval: what runs is the tool as it is now, and only with arguments that fit it', async () => {
    const guarded = { ask: { ...ask, approval: true } };
    const transcript = await stored(guarded);
    const answers = { 'call-1': { approve: true as const } };
    await runTurn({ model: scriptedModel(['end']), transcript, tools: { ask: changed }, answers });
    expect(shown(transcript)['call-1']).toContain('unknown key');
  });

  test.each(['suspend', 'continue'] as const)(
    '[R44] [T16] an approved call whose tool is hidden now says that it was approved and did not run, with onPending %s',
    async (onPending) => {
      const { act, ran } = recorder({ approval: true });
      const model = scriptedModel([{ toolName: 'act', input: { n: 1 } }, 'one', 'two']);
      const options = { model, onPending, newId: sequentialIds() };
      const { transcript } = await runTurn({ ...options, tools: { act, echo }, prompt: 'go' });
      const answers = { 'call-1': { approve: true as const } };
      const { settlements } = await runTurn({ ...options, tools: { echo }, transcript, answers });
      expect(settlements.map(({ outcome }) => outcome)).toMatchObject([
        {
          ...{ status: 'error', code: 'unknown_tool' },
          text: '"act" was approved, but it is not available now and did not run. Available: echo.',
        },
      ]);
      expect(ran).toEqual([]);
    },
  );

  test('[T16] a call that asked and whose tool is hidden now says that it did not continue', async () => {
    const asks = tool({ description: 'Asks.', inputSchema: text, execute: () => pending({ asks: true }) });
    const transcript = await stored({ ask: asks });
    const answers = { 'call-1': { result: 'red' } };
    const { settlements } = await runTurn({ model: scriptedModel(['end']), transcript, tools: { echo }, answers });
    expect(settlements[0]?.outcome.text).toBe(
      '"ask" got the answer that it had asked for, but it is not available now and did not continue. Available: echo.',
    );
  });
});

test('[R43] a tool without execute waits for an answer', async () => {
  const client = tool({ description: 'Runs in the browser.', inputSchema: text });
  const model = scriptedModel([[{ toolName: 'client', input: { text: 'q' } }], 'end']);
  const first = await runTurn({ model, prompt: 'go', tools: { client }, newId: sequentialIds() });
  expect(first.stop).toEqual(suspended);
  const { transcript } = first;
  await runTurn({ model, transcript, tools: { client }, answers: { 'call-1': { result: { ok: 1 } } } });
  expect(shown(transcript)).toEqual({ 'call-1': '{"ok":1}' });
});

test('[R43] an answer is checked against the output schema', async () => {
  const strict = tool({ description: 'Asks.', inputSchema: text, outputSchema: z.number(), execute: () => pending() });
  const model = scriptedModel([[{ toolName: 'strict', input: { text: 'q' } }], 'end']);
  const { transcript } = await runTurn({ model, prompt: 'go', tools: { strict }, newId: sequentialIds() });
  const result = await runTurn({
    model,
    transcript,
    tools: { strict },
    answers: { 'call-1': { result: 'no number' } },
  });
  expect(result.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'execution' });
});

test("[R43] with onPending 'continue' the model reads at once that the call waits, with its id, and goes on", async () => {
  const model = scriptedModel([[{ toolName: 'ask', input: { text: 'q' } }], 'meanwhile']);
  const result = await runTurn({
    model,
    prompt: 'go',
    tools: { ask },
    onPending: 'continue',
    newId: sequentialIds(),
  });
  expect(result).toMatchObject({ response: 'meanwhile', stop: { reason: 'end_turn' }, settlements: [] });
  expect(result.pending).toMatchObject([{ callId: 'call-1' }]);
  expect(shown(result.transcript)['call-1']).toMatch(/pending.*call-1/);
});

test('[R43] a late answer comes as a message with id, tool, input and result, once', async () => {
  const model = scriptedModel([[{ toolName: 'ask', input: { text: 'q?' } }], 'meanwhile', 'I see']);
  const options = { model, tools: { ask }, onPending: 'continue', newId: sequentialIds() } as const;
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const before = transcript.view();
  const result = await runTurn({ ...options, transcript, answers: { 'call-1': { result: 'the answer' } } });
  expect(result).toMatchObject({ response: 'I see', pending: [] });
  const added = transcript.view().slice(before.length);
  expect(added.map(({ role }) => role)).toEqual(['user', 'assistant']);
  for (const part of ['call-1', 'ask', 'q?', 'the answer']) expect(JSON.stringify(added[0])).toContain(part);
  // Earlier messages to the model stay unchanged.
  expect(transcript.view().slice(0, before.length)).toEqual(before);
});

test('[R43] the message of a late answer has the pictures and PDF documents of the result, and no other file', () => {
  const file = (mediaType: string) => ({
    ...{ type: 'file' as const, mediaType },
    data: { type: 'data' as const, data: 'AAAA' },
  });
  const types = ['image/png', 'application/pdf', 'image', 'text/csv', 'application/pdf-x'];
  const { content } = lateAnswerMessage({
    ...{ callId: 'call-1', toolName: 'ask', input: {}, startedAt: 0, endedAt: 0 },
    outcome: { status: 'ok', value: 'v', text: 'See these.', content: types.map(file) },
  });
  expect(content.flatMap((part) => (part.type === 'file' ? part.mediaType : []))).toEqual(types.slice(0, 3));
});

test('[R43] a late answer that comes with a prompt is in the first request to the model', async () => {
  const model = scriptedModel([[{ toolName: 'ask', input: { text: 'q' } }], 'meanwhile', 'I see']);
  const options = { model, tools: { ask }, onPending: 'continue', newId: sequentialIds() } as const;
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  await runTurn({ ...options, transcript, prompt: 'and?', answers: { 'call-1': { result: 'the answer' } } });
  const asked = JSON.stringify(model.requests[2]?.prompt);
  expect(asked).toContain('and?');
  expect(asked).toContain('the answer');
});

test('[R43] a call that was left pending when the turn ended otherwise can be answered later', async () => {
  const done = tool({ description: 'Ends.', terminal: true, inputSchema: text, execute: ({ text }) => text });
  const model = scriptedModel([
    [
      { toolName: 'ask', input: { text: 'q' } },
      { toolName: 'done', input: { text: 'bye' } },
    ],
    'I see',
  ]);
  const first = await runTurn({ model, prompt: 'go', tools: { ask, done }, newId: sequentialIds() });
  expect(first).toMatchObject({ response: 'bye', pending: [{ callId: 'call-1' }] });
  const { transcript } = first;
  const second = await runTurn({ model, transcript, tools: { ask, done }, answers: { 'call-1': { result: 'late' } } });
  expect(second).toMatchObject({ response: 'I see', pending: [] });
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain('late');
});

test('[R43] an expired pending call is an error that the model sees, at the position of its result', async () => {
  const clock = fakeClock();
  const brief = tool({ description: 'Asks.', inputSchema: text, execute: () => pending({ expiresInMs: 50 }) });
  const model = scriptedModel([[{ toolName: 'brief', input: { text: 'q' } }], 'pity']);
  const options = { model, tools: { brief }, clock, newId: sequentialIds() };
  const { transcript, pending: waiting } = await runTurn({ ...options, prompt: 'go' });
  expect(waiting).toMatchObject([{ expiresAt: clock.now() + 50 }]);
  await clock.advance(49);
  expect((await runTurn({ ...options, transcript })).stop).toEqual(suspended);
  await clock.advance(1);
  const result = await runTurn({ ...options, transcript });
  expect(result).toMatchObject({
    response: 'pity',
    pending: [],
    settlements: [{ callId: 'call-1', input: { text: 'q' }, outcome: { status: 'error', code: 'expired' } }],
  });
  const late = runTurn({ ...options, transcript, answers: { 'call-1': { result: 'too late' } } });
  await expect(late).rejects.toThrow(/answers\.call-1.*too late.*error/);
});

test('[R43] the writes of a pending call are committed with it, and its answer does not repeat them', async () => {
  const marks = slice<number>('marks', { initial: 0, on: { marked: (count) => count + 1 } });
  const mark = tool({
    description: 'Marks and waits.',
    effects: 'session',
    inputSchema: text,
    execute(_, { session }) {
      session.dispatch({ type: 'marked' } as SessionEvent);
      return pending();
    },
  });
  const session = createSession({ slices: [marks] });
  const model = scriptedModel([[{ toolName: 'mark', input: { text: 'q' } }], 'end']);
  const { transcript } = await runTurn({ model, prompt: 'go', tools: { mark }, session, newId: sequentialIds() });
  expect(session.read(marks)).toBe(1);
  await runTurn({ model, transcript, tools: { mark }, session, answers: { 'call-1': { result: 'yes' } } });
  expect(session.read(marks)).toBe(1);
});

test('[R44] a tool with approval does not run until it is approved, and then once, with the requested input', async () => {
  const { act, ran } = recorder({ approval: true });
  const model = scriptedModel([[{ toolName: 'act', input: { n: 1 } }], 'end']);
  const options = { model, tools: { act }, newId: sequentialIds() };
  const first = await runTurn({ ...options, prompt: 'go' });
  expect(first.pending).toEqual([{ callId: 'call-1', kind: 'approval', toolName: 'act', input: { n: 1 } }]);
  expect(first.stop).toEqual(suspended);
  const { transcript } = first;
  expect((await runTurn({ ...options, transcript })).stop).toEqual(suspended);
  expect(ran).toEqual([]);
  const second = await runTurn({ ...options, transcript, answers: { 'call-1': { approve: true } } });
  expect(second.response).toBe('end');
  expect(ran).toEqual([{ n: 1 }]);
  expect(shown(transcript)).toEqual({ 'call-1': 'acted 1' });
});

test("[R44] edited arguments run instead of the model's, and are checked again", async () => {
  const { act, ran } = recorder({ approval: true });
  const model = scriptedModel([
    [
      { toolName: 'act', input: { n: 1 } },
      { toolName: 'act', input: { n: 2 } },
    ],
    'end',
  ]);
  const options = { model, tools: { act }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const result = await runTurn({
    ...options,
    transcript,
    answers: { 'call-1': { approve: true, input: { n: 7 } }, 'call-2': { approve: true, input: { n: 'x' } } },
  });
  expect(ran).toEqual([{ n: 7 }]);
  expect(result.settlements).toMatchObject([
    { callId: 'call-1', input: { n: 7 }, outcome: { status: 'ok' } },
    { callId: 'call-2', outcome: { status: 'error', code: 'invalid_input' } },
  ]);
});

test('[R44] the approved arguments run, even if parsing the original ones again gives another result', async () => {
  let time = 0;
  const { act, ran } = recorder({ approval: true });
  const mend = repair(() => ({ n: ++time }));
  const dated = tool({
    description: 'Knows when.',
    approval: true,
    inputSchema: z.object({ day: z.string().transform((text) => new Date(text)) }),
    execute(input) {
      ran.push(input);
    },
  });
  const model = scriptedModel([
    [
      { toolName: 'act', input: '{"n": one}' },
      { toolName: 'dated', input: { day: '2020-01-01' } },
    ],
    'end',
  ]);
  const options = { model, tools: { act, dated }, middleware: [mend], newId: sequentialIds() };
  const first = await runTurn({ ...options, prompt: 'go' });
  expect(first.pending.map(({ input }) => input)).toEqual([{ n: 1 }, { day: new Date('2020-01-01') }]);
  const transcript = Transcript.fromJSON(JSON.stringify(first.transcript));
  await runTurn({ ...options, transcript, answers: { 'call-1': { approve: true }, 'call-2': { approve: true } } });
  // The tool gets a Date, as usual, although the store had a text.
  expect(ran).toEqual([{ n: 1 }, { day: new Date('2020-01-01') }]);
});

test('[R44] a denied call settles error/denied with the reason, and does not run', async () => {
  const { act, ran } = recorder({ approval: true });
  const model = scriptedModel([[{ toolName: 'act', input: { n: 1 } }], 'end']);
  const options = { model, tools: { act }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const result = await runTurn({ ...options, transcript, answers: { 'call-1': { deny: 'not on my watch' } } });
  expect(ran).toEqual([]);
  expect(result.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'denied', message: 'not on my watch' });
  expect(shown(transcript)['call-1']).toContain('not on my watch');
});

test('[R44] an approval is not a result, and a result is not an approval', async () => {
  const { act, ran } = recorder({ approval: true });
  const model = scriptedModel([
    [
      { toolName: 'act', input: { n: 1 } },
      { toolName: 'ask', input: { text: 'q' } },
    ],
  ]);
  const options = { model, tools: { act, ask }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const before = transcript.entries.length;
  const wrong = [
    { 'call-1': { result: 'done' } },
    { 'call-1': { error: 'failed' } },
    { 'call-2': { approve: true } },
    { 'call-2': { deny: 'no' } },
  ] as const;
  for (const answers of wrong) {
    const [callId] = Object.keys(answers);
    await expect(runTurn({ ...options, transcript, answers })).rejects.toThrow(`answers.${callId}`);
  }
  expect(ran).toEqual([]);
  expect(transcript.entries).toHaveLength(before);
});

test('[R44] a call that waits for approval and then for its result takes one answer of each kind', async () => {
  let runs = 0;
  const both = tool({
    description: 'Asks twice.',
    inputSchema: text,
    approval: true,
    execute: () => (runs++, pending()),
  });
  const model = scriptedModel([[{ toolName: 'both', input: { text: 'q' } }], 'end']);
  const options = { model, tools: { both }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const approved = await runTurn({ ...options, transcript, answers: { 'call-1': { approve: true } } });
  expect(approved).toMatchObject({ stop: suspended, pending: [{ callId: 'call-1', kind: 'result' }] });
  const answered = await runTurn({ ...options, transcript, answers: { 'call-1': { result: 'yes' } } });
  expect(answered.response).toBe('end');
  expect(shown(transcript)).toEqual({ 'call-1': 'yes' });
  expect(runs).toBe(1);
});

test('[R44] an approved tool that fails has failed, and its answer is used up', async () => {
  const broken = tool({ description: 'Fails.', inputSchema: text, approval: true, execute: () => fail('broken') });
  const model = scriptedModel([[{ toolName: 'broken', input: { text: 'q' } }], 'end']);
  const options = { model, tools: { broken }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const result = await runTurn({ ...options, transcript, answers: { 'call-1': { approve: true } } });
  expect(result.settlements).toMatchObject([{ outcome: { status: 'error', message: 'broken' } }]);
});

test('[R45] each answer reaches its own call, also of two with the same tool and input, in any order', async () => {
  for (const order of [
    ['call-1', 'call-2'],
    ['call-2', 'call-1'],
  ] as const) {
    const same = { toolName: 'ask', input: { text: 'same' } };
    const model = scriptedModel([[same, same], 'end']);
    const options = { model, tools: { ask }, newId: sequentialIds() };
    const { transcript } = await runTurn({ ...options, prompt: 'go' });
    const [first, second] = order;
    const partly = await runTurn({ ...options, transcript, answers: { [first]: { result: `for ${first}` } } });
    expect(partly).toMatchObject({ stop: suspended, pending: [{ callId: second }] });
    expect(statuses(partly)).toEqual([`${first} ok`]);
    expect(model.requests).toHaveLength(1);
    const wholly = await runTurn({ ...options, transcript, answers: { [second]: { result: `for ${second}` } } });
    expect(wholly).toMatchObject({ response: 'end', pending: [] });
    expect(shown(transcript)).toEqual({ 'call-1': 'for call-1', 'call-2': 'for call-2' });
  }
});

test('[R45] the settlements of a turn are in the order of the calls, whatever the order of the answers', async () => {
  const one = { toolName: 'ask', input: { text: 'q' } };
  const model = scriptedModel([[one, one, { toolName: 'echo', input: { text: 'e' } }], 'end']);
  const options = { model, tools: { ask, echo }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  await runTurn({ ...options, transcript, answers: { 'call-2': { result: 2 } } });
  const result = await runTurn({ ...options, transcript, answers: { 'call-1': { result: 1 } } });
  expect(result.settlements.map(({ callId }) => callId)).toEqual(['call-1', 'call-2', 'call-3']);
});

test('[R46] the same answer twice is one execution', async () => {
  const { act, ran } = recorder({ approval: true });
  const model = scriptedModel([[{ toolName: 'act', input: { n: 1 } }], 'end']);
  const options = { model, tools: { act }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const answers = { 'call-1': { approve: true, input: { n: 3 } } } as const;
  const first = await runTurn({ ...options, transcript, answers });
  // As read from a store: the fields are in another order.
  const again = { 'call-1': { input: { n: 3 }, approve: true } } as const;
  const second = await runTurn({ ...options, transcript, answers: again });
  expect(ran).toEqual([{ n: 3 }]);
  expect(second).toMatchObject({ response: first.response, stop: first.stop, usage: first.usage, steps: first.steps });
  expect(model.requests).toHaveLength(2);
});

test('[R46] a different second answer is refused, with the answer that won', async () => {
  const { act, ran } = recorder({ approval: true });
  const model = scriptedModel([[{ toolName: 'act', input: { n: 1 } }], 'end']);
  const options = { model, tools: { act }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  await runTurn({ ...options, transcript, answers: { 'call-1': { deny: 'the reason that won' } } });
  const other = runTurn({ ...options, transcript, answers: { 'call-1': { approve: true } } });
  await expect(other).rejects.toThrow(/answers\.call-1.*the reason that won/);
  expect(ran).toEqual([]);
});

test('[R46] of two answers at the same time one wins: the same is one execution, another is refused', async () => {
  for (const shared of [true, false]) {
    const { act, ran } = recorder({ approval: true });
    const model = scriptedModel([[{ toolName: 'act', input: { n: 1 } }], 'end']);
    // Also without a shared session: the transcript alone keeps them apart.
    const session = shared ? { session: createSession() } : {};
    const options = { model, tools: { act }, newId: sequentialIds(), ...session };
    const { transcript } = await runTurn({ ...options, prompt: 'go' });
    const settled = await Promise.allSettled([
      runTurn({ ...options, transcript, answers: { 'call-1': { approve: true } } }),
      runTurn({ ...options, transcript, answers: { 'call-1': { approve: true } } }),
      runTurn({ ...options, transcript, answers: { 'call-1': { deny: 'no' } } }),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(String((settled[2] as PromiseRejectedResult).reason)).toMatch(/answers\.call-1.*approve/);
    expect(ran).toEqual([{ n: 1 }]);
    expect(model.requests).toHaveLength(2);
  }
});

test('[R46] a turn aborted while it waits for another one writes nothing to their transcript', async () => {
  const { act, ran } = recorder({ approval: true });
  const model = scriptedModel([[{ toolName: 'act', input: { n: 1 } }], 'end']);
  const options = { model, tools: { act }, newId: sequentialIds(), session: createSession() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const abort = new AbortController();
  const winner = runTurn({ ...options, transcript, answers: { 'call-1': { approve: true } } });
  const waiting = runTurn({ ...options, transcript, prompt: 'never said', signal: abort.signal });
  abort.abort();
  expect((await waiting).stop).toEqual({ reason: 'aborted' });
  expect((await winner).response).toBe('end');
  expect(ran).toHaveLength(1);
  expect(JSON.stringify(transcript)).not.toContain('never said');
});

test('[R46] a late answer given twice reaches the model once', async () => {
  const model = scriptedModel([[{ toolName: 'ask', input: { text: 'q' } }], 'meanwhile', 'I see']);
  const options = { model, tools: { ask }, onPending: 'continue', newId: sequentialIds() } as const;
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const answers = { 'call-1': { result: 'late' } };
  await runTurn({ ...options, transcript, answers });
  const again = await runTurn({ ...options, transcript: Transcript.fromJSON(transcript.toJSON()), answers });
  expect(again.response).toBe('I see');
  expect(model.requests).toHaveLength(3);
});

test('[R46] an answer without a waiting call, or of an unknown shape, is refused and nothing runs', async () => {
  const { act, ran } = recorder({ approval: true });
  const model = scriptedModel([[{ toolName: 'act', input: { n: 1 } }]]);
  const options = { model, tools: { act }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'go' });
  const before = transcript.entries.length;
  const refused: Record<string, unknown>[] = [
    { 'call-9': { approve: true } },
    { 'call-1': {} },
    { 'call-1': null },
    { 'call-1': 'yes' },
    { 'call-1': { approve: true, deny: 'both' } },
    { constructor: { approve: true } },
    { 'call-1': { approve: true }, 'call-9': { approve: true } },
    { 'call-1': { approve: false } },
    { 'call-1': { approve: 'yes' } },
    { 'call-1': { deny: true } },
  ];
  for (const answers of refused)
    await expect(runTurn({ ...options, transcript, answers: answers as never })).rejects.toThrow(/Option "answers\./);
  expect(ran).toEqual([]);
  expect(transcript.entries).toHaveLength(before);
});

describe('an answer that is given to a turn which cannot go on', () => {
  const ask = tool({ description: 'Asks.', inputSchema: z.object({}) });
  const ran: number[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({ sum: z.number() }),
    approval: true,
    execute: ({ sum }) => ran.push(sum),
  });
  const tools = { ask, pay };

  test.each([
    ['[R43]', 'a result', { toolName: 'ask' }, { result: 'in three days' }, 'in three days'],
    ['[R44]', 'an approval', { toolName: 'pay', input: { sum: 7 } }, { approve: true as const }, 1],
  ])(
    '%s %s that comes with an abort settles nothing, and holds when the turn continues',
    async (_, __, call, answer, value) => {
      ran.length = 0;
      const first = await runTurn({ model: scriptedModel([call]), prompt: 'Go.', tools });
      const callId = first.pending[0]?.callId ?? '';
      const next = { transcript: first.transcript, answers: { [callId]: answer }, tools };
      const aborted = await runTurn({ ...next, model: scriptedModel([]), signal: AbortSignal.abort() });
      expect(aborted.stop).toEqual({ reason: 'aborted' });
      expect([aborted.pending.length, ran.length]).toEqual([1, 0]);
      const continued = await runTurn({ ...next, model: scriptedModel(['Done.']) });
      expect(continued.settlements).toMatchObject([{ callId, outcome: { status: 'ok', value } }]);
      expect([continued.response, continued.pending]).toEqual(['Done.', []]);
    },
  );

  test("[R44] with unusedAnswers: 'end' the call ends with the abort, and does not run", async () => {
    ran.length = 0;
    const first = await runTurn({
      model: scriptedModel([{ toolName: 'pay', input: { sum: 7 } }]),
      prompt: 'Go.',
      tools,
    });
    const callId = first.pending[0]?.callId ?? '';
    const aborted = await runTurn({
      model: scriptedModel([]),
      transcript: first.transcript,
      answers: { [callId]: { approve: true } },
      tools,
      signal: AbortSignal.abort(),
      unusedAnswers: 'end',
    });
    expect(aborted.settlements).toMatchObject([{ callId, outcome: { status: 'error', code: 'aborted' } }]);
    expect([aborted.stop.reason, aborted.pending, ran]).toEqual(['aborted', [], []]);
  });

  test('[R43] the same holds for an answer to a call without which the turn had gone on', async () => {
    const model = scriptedModel([{ toolName: 'ask' }, 'Meanwhile.']);
    const first = await runTurn({ model, prompt: 'Go.', tools, onPending: 'continue' });
    const callId = first.pending[0]?.callId ?? '';
    const next = { transcript: first.transcript, answers: { [callId]: { result: 'yes' } }, tools };
    const aborted = await runTurn({ ...next, model: scriptedModel([]), signal: AbortSignal.abort() });
    expect(aborted.pending).toHaveLength(1);
    const continued = await runTurn({ ...next, model: scriptedModel(['Done.']) });
    expect(continued.settlements).toMatchObject([{ callId, outcome: { status: 'ok', value: 'yes' } }]);
  });
});

describe('arguments that the schema changes', () => {
  const asked = { toolName: 'act', input: { euros: 5, note: 'rent' } };
  const inputSchema = z.object({
    euros: z.number().transform((euros) => euros * 100),
    note: z.string().transform((text) => ({ text, at: Math.random() })),
  });

  async function waiting(execute: (input: unknown, ctx: { answer?: unknown }) => unknown, approval: boolean) {
    const tools = { act: tool({ description: 'Acts.', inputSchema, approval, execute }) };
    const first = await runTurn({ model: scriptedModel([asked]), prompt: 'Go.', tools });
    const transcript = Transcript.fromJSON(JSON.parse(JSON.stringify(first.transcript)));
    const [pendingCall] = first.pending;
    const resume = (answer: object) =>
      runTurn({
        ...{ model: scriptedModel(['Done.']), transcript, tools },
        answers: { [pendingCall?.callId ?? '']: answer as never },
      });
    return { shown: pendingCall?.input, resume };
  }

  test.each([
    ['as they are', { approve: true }, { euros: 500, note: { text: 'rent' } }],
    ['as they were shown', { approve: true, input: asked.input }, { euros: 500, note: { text: 'rent' } }],
    ['with an edit', { approve: true, input: { euros: 6, note: 'rent' } }, { euros: 600, note: { text: 'rent' } }],
  ])(
    '[R44] are shown as the model wrote them, and are changed once if they are approved %s',
    async (_, answer, expected) => {
      const ran: unknown[] = [];
      const { shown, resume } = await waiting((input) => ran.push(input), true);
      expect(shown).toEqual(asked.input);
      await resume(answer);
      expect(ran).toMatchObject([expected]);
    },
  );

  test('[R44] a repair of the model’s arguments is shown and runs, also if the schema changes it', async () => {
    const ran: unknown[] = [];
    const act = tool({ description: 'Acts.', inputSchema, approval: true, execute: (input) => ran.push(input) });
    const fix = repair(() => ({ euros: 5, note: 'fixed' }));
    const options = { tools: { act }, middleware: [fix] };
    const model = scriptedModel([{ toolName: 'act', input: { euros: 'five' } }]);
    const first = await runTurn({ ...options, model, prompt: 'Go.' });
    expect(first.pending[0]?.input).toEqual({ euros: 5, note: 'fixed' });
    const answers = { [first.pending[0]?.callId ?? '']: { approve: true as const } };
    await runTurn({ ...options, model: scriptedModel(['Done.']), transcript: first.transcript, answers });
    expect(ran).toMatchObject([{ euros: 500, note: { text: 'fixed' } }]);
  });

  test('[T37] a schema that never answers when what is shown is checked delays a turn up to its deadline', async () => {
    let asked = 0;
    const clock = fakeClock();
    const validate = (value: unknown) =>
      ++asked === 1 ? { value } : clock.advance(2_000).then(() => new Promise(() => {}));
    const json = () => ({ type: 'object' });
    const schema = { '~standard': { version: 1, vendor: 'own', validate, jsonSchema: { input: json, output: json } } };
    const act = tool({ description: 'Acts.', inputSchema: schema as never, approval: true, execute: () => 'acted' });
    const model = scriptedModel([{ toolName: 'act' }, 'Done.']);
    const { stop } = await runTurn({ model, prompt: 'Go.', tools: { act }, clock, deadline: clock.now() + 1_000 });
    expect(stop).toEqual({ reason: 'deadline' });
    expect(asked).toBe(2);
  });

  test('a tool that asked runs again with the same input', async () => {
    const ran: unknown[] = [];
    const { resume } = await waiting((input, { answer }) => {
      ran.push(structuredClone(input));
      return answer === undefined ? pending({ asks: true }) : 'done';
    }, false);
    await resume({ result: 'yes' });
    expect(ran).toHaveLength(2);
    expect(ran[1]).toEqual(ran[0]);
  });
});
