import { describe, expect, test } from 'vitest';
import { streamTurn, type TurnEvent, tool } from '../../src/index.ts';
import { startModelServer } from './model-server.ts';
import { ask, failureOf, instantClock, modelOf, replyTexts, statuses, weather, wire } from './run-wire.ts';

describe.each(['openai', 'anthropic'] as const)('%s, streamed', (format) => {
  const how = { format, mode: 'streamed' } as const;

  test('[R50] deltas concatenate to what is stored, and the events of a call come in order', async () => {
    const { events, result } = await wire(how, [
      {
        reasoning: { text: 'I think, therefore I look.', signature: 's1' },
        text: 'Let me look it up.',
        calls: [ask('c1', 'Paris'), ask('c2', 'Rome')],
      },
      { text: 'Sunny everywhere.' },
    ]);
    const { transcript, settlements } = await result;
    const first = events.slice(
      0,
      events.findIndex(({ type }) => type === 'step.end'),
    );
    expect(joined(first, 'reasoning.delta')).toBe('I think, therefore I look.');
    expect(joined(first, 'text.delta')).toBe('Let me look it up.');
    expect(joined(events.slice(first.length), 'text.delta')).toBe('Sunny everywhere.');
    expect(replyTexts(transcript)).toEqual(['Let me look it up.', 'Sunny everywhere.']);
    for (const { callId, input } of settlements) {
      const own = events.filter((event) => 'callId' in event && event.callId === callId);
      const types = own.map(({ type }) => type);
      expect([...new Set(types)]).toEqual([
        'tool-input-start',
        'tool-input-delta',
        'tool-call.start',
        'tool-call.complete',
      ]);
      const written = own.flatMap((event) => (event.type === 'tool-input-delta' ? [event.delta] : []));
      expect(JSON.parse(written.join(''))).toEqual(input);
    }
    expect(events.at(-1)?.type).toBe('turn.end');
  });

  test.each(['end', 'reset', 'error'] as const)(
    '[R27] [R50] a stream cut in the middle (%s) is requested again, and the last reply is stored',
    async (cut) => {
      const clock = instantClock();
      const { server, events, result } = await wire(
        how,
        [{ text: 'Half of this is never heard of again.', cut }, { text: 'Whole.' }],
        { clock },
      );
      expect(await result).toMatchObject({ response: 'Whole.', steps: 1, usage: { totalTokens: 18 } });
      expect(replyTexts((await result).transcript)).toEqual(['Whole.']);
      const starts = events.filter(({ type }) => type === 'step.start');
      expect(starts).toEqual([
        { type: 'step.start', step: 1, attempt: 1 },
        { type: 'step.start', step: 1, attempt: 2 },
      ]);
      const again = events.findLastIndex(({ type }) => type === 'step.start');
      expect(joined(events.slice(0, again), 'text.delta')).toMatch(/^Half of/);
      expect(joined(events.slice(again), 'text.delta')).toBe('Whole.');
      expect(clock.slept).toEqual([500]);
      expect(statuses(server)).toEqual([200, 200]);
    },
  );

  test.each(['end', 'reset', 'error'] as const)(
    '[R27] a call in a stream cut in the middle (%s) never runs',
    async (cut) => {
      let runs = 0;
      const counted = tool({ ...weather, execute: () => `run ${++runs}` });
      const { result } = await wire(
        how,
        [{ calls: [ask('c1', 'Paris'), ask('c2', 'a city with a rather long name')], cut }, { text: 'None.' }],
        { clock: instantClock(), tools: { weather: counted } },
      );
      expect(await result).toMatchObject({ response: 'None.', settlements: [] });
      expect(runs).toBe(0);
    },
  );

  test('[R27] a stream that is cut each time rejects with a transcript that can be resumed', async () => {
    const cut = { text: 'Half of this is never heard of again.', cut: 'end' } as const;
    const { transcript } = await failureOf(await wire(how, [cut, cut, cut], { clock: instantClock() }));
    expect(replyTexts(transcript)).toEqual([]);
    const next = await wire(how, [{ text: 'Whole.' }], { transcript, prompt: undefined as never });
    expect((await next.result).response).toBe('Whole.');
  });

  test('[R52] unknown events and chunks are skipped', async () => {
    const { server, events, result } = await wire(how, [
      { text: 'Let me look.', calls: [ask('c1', 'Paris'), ask('c2', 'Rome')], unknown: true },
      { text: 'Sunny everywhere.', unknown: true },
    ]);
    const { response, settlements, stop } = await result;
    expect({ response, stop }).toEqual({ response: 'Sunny everywhere.', stop: { reason: 'end_turn', by: 'text' } });
    expect(settlements.map(({ outcome }) => outcome.text)).toEqual(['Sunny in Paris', 'Sunny in Rome']);
    expect(joined(events, 'text.delta')).toBe('Let me look.Sunny everywhere.');
    expect(events.filter(({ type }) => type === 'step.start')).toHaveLength(2);
    expect(statuses(server)).toEqual([200, 200]);
  });

  test('[R52] a reply with only unreadable calls is an error, and not a reply without calls', async () => {
    const { server, result } = await wire(how, [
      { text: 'Let me look.', calls: [ask('c1', 'Paris'), ask('c2', 'Rome')], unreadableCalls: true },
    ]);
    await expect(result).rejects.toMatchObject({ name: 'AI_TypeValidationError', stop: { reason: 'error' } });
    expect(statuses(server)).toEqual([200]);
  });

  test('[R26] [R51] aborting in the middle of a stream disconnects and stops the turn', async () => {
    await using server = await startModelServer(format, [{ text: 'Once upon a time there was a model.', hold: true }]);
    const host = new AbortController();
    const events: TurnEvent[] = [];
    const stream = streamTurn({ model: modelOf(format, server.url), prompt: 'Tell!', signal: host.signal });
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'text.delta') host.abort();
    }
    await server.hungUp;
    const { stop, transcript } = await stream.result;
    expect(stop).toEqual({ reason: 'aborted' });
    expect(replyTexts(transcript)).toEqual([]);
    expect(events.at(-1)).toEqual({ type: 'turn.end', stop: { reason: 'aborted' } });
    expect(statuses(server)).toEqual([200]);
  });

  test('[R51] a reader that stops reading disconnects', async () => {
    await using server = await startModelServer(format, [{ text: 'Once upon a time there was a model.', hold: true }]);
    const stream = streamTurn({ model: modelOf(format, server.url), prompt: 'Tell!' });
    for await (const { type } of stream) if (type === 'text.delta') break;
    await server.hungUp;
    expect((await stream.result).stop).toEqual({ reason: 'aborted' });
  });
});

function joined(events: readonly TurnEvent[], type: 'text.delta' | 'reasoning.delta'): string {
  return events.flatMap((event) => (event.type === type ? [event.text] : [])).join('');
}
