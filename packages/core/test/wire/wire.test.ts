import { describe, expect, test } from 'vitest';
import { MaxConsecutiveNudgesExceeded, runTurn, streamTurn, Transcript, tool } from '../../src/index.ts';
import { startModelServer } from './model-server.ts';
import { answer, ask, failureOf, type How, instantClock, modelOf, statuses, tools, weather, wire } from './run-wire.ts';
import type { WireReply } from './wire-reply.ts';

const matrix: readonly How[] = [
  { format: 'openai', mode: 'whole' },
  { format: 'openai', mode: 'streamed' },
  { format: 'anthropic', mode: 'whole' },
  { format: 'anthropic', mode: 'streamed' },
];

describe.each(matrix)('$format, $mode', (how) => {
  test('[R1] [R38] tools are called and their results sent back until the model answers in text', async () => {
    const { server, result } = await wire(how, [
      { text: 'Let me look.', calls: [ask('c1', 'Paris')] },
      { calls: [ask('c2', 'Rome')] },
      { text: 'Sunny in both.' },
    ]);
    expect(await result).toMatchObject({
      response: 'Sunny in both.',
      stop: { reason: 'end_turn', by: 'text' },
      steps: 3,
      usage: { inputTokens: 33, outputTokens: 21, totalTokens: 54 },
    });
    expect(statuses(server)).toEqual([200, 200, 200]);
    expect(JSON.stringify(server.requests[2]?.body)).toMatch(/Let me look\..*Sunny in Paris.*Sunny in Rome/);
  });

  test('[R1] [R6] parallel calls settle in call order, even if the provider repeats an id', async () => {
    const { server, result } = await wire(how, [
      { calls: [ask('same', 'Paris'), ask('same', 'Rome'), ask('other', 'Oslo')] },
      { text: 'Done.' },
    ]);
    const { settlements } = await result;
    expect(settlements.map(({ outcome }) => outcome.text)).toEqual([
      'Sunny in Paris',
      'Sunny in Rome',
      'Sunny in Oslo',
    ]);
    expect(new Set(settlements.map(({ callId }) => callId)).size).toBe(3);
    expect(statuses(server)).toEqual([200, 200]);
  });

  test("[R56] a provider gets its own ids back, and the library's ids for those that it repeats", async () => {
    const { server, result } = await wire(how, [
      { calls: [ask('c1', 'Paris'), ask('same', 'Rome')] },
      { calls: [ask('same', 'Oslo'), ask('c2', 'Bonn')] },
      { text: 'Done.' },
    ]);
    const ids = (await result).settlements.map(({ callId }) => callId);
    expect(statuses(server)).toEqual([200, 200, 200]);
    const sent = server.requests.map(({ body }) => idsIn(body));
    expect(sent[1]).toEqual(['c1', 'same', 'c1', 'same']);
    expect(sent[2]).toEqual(['c1', ids[1], 'c1', ids[1], ids[2], 'c2', ids[2], 'c2']);
  });

  test('[R8] a terminal tool ends the turn, and the model is not asked again', async () => {
    const { server, result } = await wire(how, [
      { calls: [ask('c1', 'Paris'), { id: 'c2', name: 'answer', arguments: '{"text":"sun"}' }] },
    ]);
    expect(await result).toMatchObject({
      response: 'Answer: sun',
      output: 'Answer: sun',
      stop: { reason: 'end_turn', by: 'terminal', tool: 'answer' },
    });
    expect(statuses(server)).toEqual([200]);
  });

  test('[R38] the provider accepts a conversation that ended with a terminal tool and continues', async () => {
    const script: WireReply[] = [
      { calls: [{ id: 'c1', name: 'answer', arguments: '{"text":"sun"}' }, ask('c2', 'Paris')] },
    ];
    const first = await (await wire(how, script)).result;
    const { server, result } = await wire(how, [{ text: 'Yes.' }], {
      transcript: Transcript.fromJSON(JSON.stringify(first.transcript)),
      prompt: 'Sure?',
    });
    expect((await result).response).toBe('Yes.');
    expect(statuses(server)).toEqual([200]);
  });

  test.each([
    ['cut in the middle', '{"city": "Par'],
    ['no object', '"Paris"'],
    ['an array', '["Paris"]'],
    ['null', 'null'],
    ['of the wrong type', '{"city": 5}'],
  ])(
    '[R38] arguments that are %s settle invalid_input, and the provider accepts the conversation',
    async (_, written) => {
      const { server, result } = await wire(how, [
        { calls: [{ id: 'c1', name: 'weather', arguments: written }, ask('c2', 'Rome')] },
        { text: 'Sorry.' },
      ]);
      const { settlements } = await result;
      // An object is checked; null is a call without arguments, so the city is missing.
      expect(settlements.map(({ outcome }) => outcome)).toMatchObject([
        { status: 'error', code: 'invalid_input' },
        { status: 'ok', text: 'Sunny in Rome' },
      ]);
      expect(statuses(server)).toEqual([200, 200]);
    },
  );

  test('[R38] a call of an unknown tool fails, and the provider accepts the conversation', async () => {
    const { server, result } = await wire(how, [
      { calls: [{ id: 'c1', name: 'whether', arguments: '{}' }] },
      { text: 'Sorry.' },
    ]);
    expect((await result).settlements[0]?.outcome).toMatchObject({ code: 'unknown_tool' });
    expect(statuses(server)).toEqual([200, 200]);
  });

  test('[R27] 429 is retried after the time of Retry-After, in seconds or as a date', async () => {
    const clock = instantClock(1_000);
    const { server, result } = await wire(
      how,
      [
        { status: 429, headers: { 'retry-after': '7' } },
        { status: 429, headers: { 'retry-after': 'Thu, 01 Jan 1970 00:00:04 GMT' } },
        { text: 'Here.' },
      ],
      { clock },
    );
    expect(await result).toMatchObject({ response: 'Here.', steps: 1, usage: { totalTokens: 18 } });
    expect(clock.slept).toEqual([7_000, 3_000]);
    expect(statuses(server)).toEqual([429, 429, 200]);
  });

  test('[R27] 500 is retried with growing waits, and rejects if it persists', async () => {
    const clock = instantClock();
    const { server, result } = await wire(how, [{ status: 500 }, { status: 503 }, { status: 500 }], { clock });
    await expect(result).rejects.toMatchObject({ statusCode: 500, stop: { reason: 'error' } });
    expect(clock.slept).toEqual([500, 1_000]);
    expect(statuses(server)).toEqual([500, 503, 500]);
  });

  test('[R27] a refusal that would be repeated is not retried', async () => {
    for (const status of [400, 401, 404, 413]) {
      const clock = instantClock();
      const { server, result } = await wire(how, [{ status }, { text: 'Never.' }], { clock });
      await expect(result).rejects.toMatchObject({ statusCode: status });
      expect(clock.slept).toEqual([]);
      expect(statuses(server)).toEqual([status]);
    }
  });

  test('[R27] [R47] after a final error the turn can be resumed from its transcript, and no call runs again', async () => {
    const failed = await wire(how, [{ calls: [ask('c1', 'Paris')] }, { status: 400 }]);
    const { transcript } = await failureOf(failed);
    const never = tool({ ...weather, execute: () => expect.unreachable('it ran again') });
    const { server, result } = await wire(how, [{ text: 'Sunny.' }], {
      transcript: Transcript.fromJSON(JSON.stringify(transcript)),
      prompt: undefined as never,
      tools: { ...tools, weather: never },
    });
    expect(await result).toMatchObject({ response: 'Sunny.', steps: 2, usage: { totalTokens: 36 } });
    expect(statuses(server)).toEqual([200]);
  });

  test('[R18] a nudge is a system message, or a user message if the provider refuses that', async () => {
    const { server, result } = await wire(
      how,
      [
        { text: 'Sunny.' },
        { calls: [ask('c1', 'Paris')] },
        { text: 'Still sunny.' },
        { calls: [{ id: 'c2', name: 'answer', arguments: '{"text":"sun"}' }] },
      ],
      { instructions: 'Be brief.', terminating: { toolIds: ['answer'], nudgeMessage: 'Call a tool!' } },
    );
    expect(await result).toMatchObject({ response: 'Answer: sun', steps: 4 });
    const roles = rolesOf(server.requests.at(-1)?.body);
    if (how.format === 'openai') {
      expect(statuses(server)).toEqual([200, 200, 200, 200]);
      expect(roles).toEqual('system user assistant system assistant tool assistant system'.split(' '));
    } else {
      // Refused once; after that the format is known.
      expect(statuses(server)).toEqual([200, 'messages.2: role system is not allowed here', 200, 200, 200]);
      expect(roles).toEqual('user assistant user assistant user assistant user'.split(' '));
    }
  });

  test('[R18] a nudge keeps its place if no system message comes before it', async () => {
    const { server, result } = await wire(
      how,
      [{ text: 'Sunny.' }, { calls: [{ id: 'c1', name: 'report', arguments: '{"text":"sun"}' }] }],
      {
        tools: { report: tool({ ...answer, terminal: false }) },
        terminating: { toolIds: ['report'], nudgeMessage: 'Call a tool!' },
      },
    );
    expect((await result).response).toBe('Answer: sun');
    // If there is no other system message, the provider's package moves it to the top, and that is refused too.
    const last = how.format === 'openai' ? 'system' : 'user';
    expect(rolesOf(server.requests.at(-1)?.body)).toEqual(['user', 'assistant', last]);
  });

  test('[R18] the attempt that finds out that system messages are refused does not count as a retry', async () => {
    const clock = instantClock();
    const { result } = await wire(
      how,
      [
        { text: 'Sunny.' },
        { status: 500 },
        { status: 500 },
        { calls: [{ id: 'c1', name: 'answer', arguments: '{"text":"sun"}' }] },
      ],
      { instructions: 'Be brief.', clock, terminating: { toolIds: ['answer'], nudgeMessage: 'Call a tool!' } },
    );
    expect((await result).response).toBe('Answer: sun');
    expect(clock.slept).toEqual([500, 1_000]);
  });

  test('[R18] system messages at the start stay system messages when a later one has to become a user message', async () => {
    const { server, result } = await wire(
      how,
      [
        { text: 'Sunny.' },
        { calls: [ask('c1', 'Paris')] },
        { calls: [{ id: 'c2', name: 'answer', arguments: '{"text":"sun"}' }] },
      ],
      {
        prompt: undefined as never,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'Weather?' },
        ],
        terminating: { toolIds: ['answer'], nudgeMessage: 'Call a tool!' },
      },
    );
    expect((await result).response).toBe('Answer: sun');
    const last = JSON.stringify(server.requests.at(-1)?.body);
    expect(last).toMatch(
      how.format === 'openai'
        ? /"role":"system","content":"Be brief."},{"role":"system","content":"Be kind."/
        : /{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}\],"messages":/,
    );
  });

  test('[R38] the provider accepts a history with an empty or blank reply', async () => {
    const { server, result } = await wire(
      how,
      [{}, { text: '\n\n', calls: [ask('c1', 'Paris')] }, { text: ' \n' }, { text: '' }],
      { terminating: { toolIds: ['answer'], nudgeMessage: 'Call a tool!' }, instructions: 'Be brief.' },
    );
    await expect(result).rejects.toBeInstanceOf(MaxConsecutiveNudgesExceeded);
    expect(statuses(server).filter((status) => status !== 200)).toEqual(
      how.format === 'openai' ? [] : [expect.stringMatching(/role system|end with a user message/)],
    );
  });

  test('[R26] aborting during a request disconnects and stops the turn', async () => {
    await using server = await startModelServer(how.format, [{ text: 'Never whole.', hold: true }]);
    const host = new AbortController();
    const options = { model: modelOf(how.format, server.url), prompt: 'Tell!', signal: host.signal };
    const result = how.mode === 'whole' ? runTurn(options) : streamTurn(options).result;
    await server.asked;
    host.abort();
    await server.hungUp;
    expect((await result).stop).toEqual({ reason: 'aborted' });
  });

  test('[R55] the provider, which refuses calls in a history without tools, accepts the last request', async () => {
    const { server, result } = await wire(
      how,
      [{ calls: [ask('c1', 'Paris')] }, { text: 'Sunny, I think.', calls: [ask('c2', 'Rome')] }],
      { budget: { tokens: 20 }, reserveTokens: 5 },
    );
    const { response, stop, settlements } = await result;
    expect({ response, stop }).toEqual({
      response: 'Sunny, I think.',
      stop: { reason: 'budget', dimension: 'tokens' },
    });
    expect(settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'skipped']);
    expect(statuses(server)).toEqual([200, 200]);
    expect(server.requests[1]?.body).toMatchObject({
      tools: [expect.anything(), expect.anything()],
      tool_choice: how.format === 'openai' ? 'none' : { type: 'none' },
    });
  });

  test('[R28] a reply cut by its length is requested once more', async () => {
    const { server, result } = await wire(how, [{ text: 'A very long', finish: 'length' }, { text: 'Short.' }]);
    expect(await result).toMatchObject({ response: 'Short.', stop: { reason: 'end_turn', by: 'text' } });
    const again = await wire(how, [
      { text: 'Long', finish: 'length' },
      { text: 'Long again', finish: 'length' },
    ]);
    expect((await again.result).stop).toEqual({ reason: 'length' });
    expect([...statuses(server), ...statuses(again.server)]).toEqual([200, 200, 200, 200]);
  });

  test('[R38] calls cut by the length of the reply settle, and the provider accepts the conversation', async () => {
    const { server, result } = await wire(how, [
      {
        calls: [ask('c1', 'Paris'), { id: 'c2', name: 'weather', arguments: '{"city": "Ro' }],
        finish: 'length',
      },
      { text: 'Done.' },
    ]);
    expect((await result).settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'error']);
    expect(statuses(server)).toEqual([200, 200]);
  });

  test('[R16] [R38] the provider accepts a trimmed batch and a skipped one', async () => {
    for (const history of ['trim', 'keep'] as const) {
      const calls = [{ id: 'c1', name: 'answer', arguments: '{"text":"sun"}' }, ask('c2', 'Paris')];
      const { result } = await wire(how, [{ text: 'So:', calls }], {
        terminating: { toolIds: ['answer'] },
        batch: { history },
      });
      const { transcript } = await result;
      const shown = transcript.view().flatMap(({ role, content }) => (role === 'tool' ? content : []));
      expect(shown).toHaveLength(history === 'trim' ? 1 : 2);
      const next = await wire(how, [{ text: 'Yes.' }], { transcript, prompt: 'Sure?' });
      expect((await next.result).response).toBe('Yes.');
    }
  });
});

/** The ids of calls and of results in a request, in order. */
function idsIn(body: unknown): readonly string[] {
  const found: string[] = [];
  JSON.stringify(body, (key, value: unknown) => {
    const { type } = (typeof value === 'object' && value !== null ? value : {}) as { type?: unknown };
    if (type === 'tool_use' || type === 'function') found.push((value as { id?: string }).id ?? '');
    if (key === 'tool_use_id' || key === 'tool_call_id') found.push(String(value));
    return value;
  });
  // Definitions of tools are of type "function" too, and have no id.
  return found.filter((id) => id !== '');
}

function rolesOf(body: unknown): readonly string[] {
  return (body as { messages: { role: string }[] }).messages.map(({ role }) => role);
}
