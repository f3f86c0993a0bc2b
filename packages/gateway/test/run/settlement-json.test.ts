import { type Outcome, type Settlement, Transcript, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { serializeEnd } from '../../src/runtime/run/settlement-json.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';

const CALL = { callId: 'c', toolName: 'give', startedAt: 1, endedAt: 2 };

function serialized(outcome: Outcome, { input = {} as unknown, fullOutcome = outcome } = {}) {
  const settlement: Settlement = { ...CALL, input, outcome };
  return serializeEnd({ kind: 'settled', settlement }, { slices: {}, fullOutcome }).json;
}

/** A value that counts how often it is serialized. */
function counting() {
  const value = { times: 0, toJSON: () => ({ n: ++value.times }) };
  return value;
}

test('a settlement is serialized once: its input once and its outcome once', () => {
  const [input, given] = [counting(), counting()];
  const { entry, outcome, runEvent, output } = serialized({ status: 'ok', value: given, text: 'x' }, { input });
  expect([input.times, given.times]).toEqual([1, 1]);
  expect(JSON.parse(entry).entry.settlement).toMatchObject({
    input: { n: 1 },
    outcome: { value: { n: 1 }, text: 'x' },
  });
  expect(JSON.parse(outcome)).toEqual({ status: 'ok', value: { n: 1 }, text: 'x' });
  expect(JSON.parse(runEvent)).toMatchObject({
    callId: 'c',
    toolName: 'give',
    input: { n: 1 },
    outcome: { value: { n: 1 } },
  });
  expect(output).toBe('{"n":1}');
});

test('if an outcome was cut, the call row keeps the complete one, and all others have the cut one', () => {
  const cut: Outcome = { status: 'ok', value: 'lon…', text: 'lon…' };
  const json = serialized(cut, { fullOutcome: { status: 'ok', value: 'long', text: 'long' } });
  expect(JSON.parse(json.outcome)).toEqual({ status: 'ok', value: 'long', text: 'long' });
  expect(JSON.parse(json.entry).entry.settlement.outcome).toEqual(cut);
  expect(json.output).toBe('"lon…"');
});

test("the time at which a waiting call expires by a worker's clock is not stored", () => {
  const { entry, outcome, runEvent } = serialized({ status: 'pending', kind: 'result', text: 'Waits.', expiresAt: 5 });
  for (const text of [entry, outcome, runEvent]) expect(text).not.toContain('expiresAt');
  expect(JSON.parse(outcome)).toEqual({ status: 'pending', kind: 'result', text: 'Waits.' });
});

test('a tool that returned nothing has no output', () => {
  const { output, outcome } = serialized({ status: 'ok', value: undefined, text: '' });
  expect([output, outcome]).toEqual([undefined, '{"status":"ok","text":""}']);
});

test('the JSON form of any value is stored, whether it was copied before or not', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true }), (value) => {
      const [copied] = new Transcript([{ kind: 'settled', settlement: endOf(value) }]).toJSON().entries;
      const { input, outcome } = (copied as { settlement: Settlement }).settlement;
      expect(serialized({ status: 'ok', value, text: '' }, { input: value })).toEqual(serialized(outcome, { input }));
    }),
  );
});

function endOf(value: unknown): Settlement {
  return { ...CALL, input: value, outcome: { status: 'ok', value, text: '' } };
}

test('a value that can be read only once is stored as it was read then, or as unreadable', () => {
  let times = 0;
  const once = {
    get n() {
      if (++times > 1) throw new Error('no');
      return 1;
    },
  };
  expect(JSON.parse(serialized({ status: 'ok', value: once, text: 'x' }).outcome)).toEqual({
    status: 'ok',
    value: '[unreadable value]',
    text: 'x',
  });
});

const ring: Record<string, unknown> = {};
ring.ring = ring;
test.each([
  { what: 'a ring', value: ring },
  { what: 'a BigInt', value: 10n },
  { what: 'a function', value: () => 1 },
  { what: 'a text with half a character', value: 'a\0\ud800' },
  { what: 'a value that throws', value: { toJSON: () => JSON.parse('no') as unknown } },
])('$what is stored as far as JSON holds it', ({ value }) => {
  const json = serialized({ status: 'ok', value, text: 'x' }, { input: { value } });
  for (const text of [json.entry, json.outcome, json.runEvent]) expect(() => JSON.parse(text)).not.toThrow();
});

describeWorlds('a run', (open) => {
  test('serializes the result of a visible call once for the model, to measure it, and once to store and show it', async () => {
    const value = counting();
    const give = tool({ description: 'Gives.', inputSchema: z.object({}), execute: () => value });
    const model = scriptedModel((_request, asked) => (asked === 1 ? [{ toolName: 'give' }] : 'Done.'));
    const world = await open({ models: { default: model }, tools: { give: { tool: give, visible: true } } });
    const { ada, space } = await lobby(world, { tools: ['give'] }, { isIn: true });
    await world.say(space, ada, 'Go');
    await world.idle();
    expect(value.times).toBe(3);
    const card = await world.store.db.selectFrom('messages').select('metadata').where('kind', '=', 'tool').execute();
    expect(card.map(({ metadata }) => JSON.parse(metadata).output)).toEqual([{ n: 3 }]);
  });
});
