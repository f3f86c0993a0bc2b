import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pending, secret, tool } from '../../src/index.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import { problemOfEntries, problemOfMessages } from '../../src/testing/valid-history.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { runTurn } from '../../src/turn/run-turn.ts';

const empty = z.object({});

/** A tool that returns a given value. */
function giving(value: unknown) {
  return tool({ description: 'Gives.', effects: 'none', inputSchema: empty, execute: () => value });
}

async function transcriptOf(value: unknown): Promise<Transcript> {
  const model = scriptedModel([[{ toolName: 'give' }], 'end']);
  return (await runTurn({ model, tools: { give: giving(value) }, prompt: 'go' })).transcript;
}

test('[R47] a transcript read back is the one stored: entries, view and JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const transcript = await transcriptOf(value);
      const read = Transcript.fromJSON(JSON.stringify(transcript));
      expect(JSON.stringify(read)).toBe(JSON.stringify(transcript));
      expect(read.entries).toEqual(transcript.toJSON().entries);
      expect(read.view()).toEqual(transcript.view());
    }),
    { numRuns: 50 },
  );
});

test('[R47] a transcript can be stored with any result of a tool', async () => {
  const cycle: Record<string, unknown> = { name: 'cycle' };
  cycle.self = cycle;
  const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
  const hostile = {
    get field() {
      throw new Error('no');
    },
  };
  const values = [
    10n,
    cycle,
    deep,
    hostile,
    new Map([['a', 1]]),
    new Set([1]),
    () => 1,
    Symbol('s'),
    Number.NaN,
    new Uint8Array([1, 2, 3]),
    new Date(0),
    JSON.parse('{"__proto__":{"x":1}}'),
    undefined,
    { toJSON: () => 'mine' },
  ];
  for (const value of values) {
    const transcript = await transcriptOf(value);
    const text = JSON.stringify(transcript);
    expect(JSON.stringify(Transcript.fromJSON(text))).toBe(text);
    expect(Transcript.fromJSON(text).view()).toEqual(transcript.view());
    if (value === cycle) expect(text).toContain('{"name":"cycle","self":"[circular]"}');
    if (value === deep) expect(text).toContain('"[too deep]"');
  }
});

test('[R47] a secret is not in the stored transcript', async () => {
  const transcript = await transcriptOf({ key: secret('hunter2') });
  expect(JSON.stringify(transcript)).not.toContain('hunter2');
  expect(JSON.stringify(Transcript.fromJSON(transcript.toJSON()))).not.toContain('hunter2');
});

test('[R47] bytes and addresses in messages reach the model the same after a store', async () => {
  const content = [
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([137, 80, 78, 71]) } },
    { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } },
  ] as const;
  const messages = [{ role: 'user', content: [...content] }] as never;
  const { transcript } = await runTurn({ model: scriptedModel(['first']), messages });
  const model = scriptedModel(['second']);
  await runTurn({ model, transcript: Transcript.fromJSON(JSON.stringify(transcript)), prompt: 'and?' });
  const [first] = model.requests[0]?.prompt ?? [];
  expect(first?.content).toEqual([{ ...content[0], data: { type: 'data', data: 'iVBORw==' } }, content[1]]);
});

test('[R47] changing the stored data later has no effect', async () => {
  const transcript = await transcriptOf({ list: [1] });
  const stored = structuredClone(transcript.toJSON());
  const read = Transcript.fromJSON(stored);
  const before = JSON.stringify(read);
  (stored.entries as unknown[]).length = 0;
  expect(JSON.stringify(read)).toBe(before);
  const mutable = transcript.toJSON() as unknown as { entries: { kind: string }[] };
  for (const entry of mutable.entries) entry.kind = 'gone';
  expect(transcript.entries.map(({ kind }) => kind)).not.toContain('gone');
});

test('[R47] a value that is not a stored transcript is refused, saying what is expected', () => {
  const bad: unknown[] = [
    null,
    undefined,
    7,
    '',
    '{',
    'null',
    '[]',
    {},
    { version: 2, entries: [] },
    { version: 1 },
    { version: 1, entries: {} },
    { version: 1, entries: [null] },
    { version: 1, entries: [{}] },
    { version: 1, entries: ['reply'] },
  ];
  for (const json of bad) expect(() => Transcript.fromJSON(json as never), String(json)).toThrow(/stored transcript/);
});

test('[R47] entries of a kind that a later version adds are skipped', () => {
  const entries = [{ kind: 'turn' }, { kind: 'hologram', colour: 'blue' }] as never;
  expect(Transcript.fromJSON({ version: 1, entries }).view()).toEqual([]);
});

test('[R38] [R47] any stored prefix resumes to a valid end, and nothing settled in it runs again', async () => {
  const ran: string[] = [];
  const act = tool({
    description: 'Acts.',
    inputSchema: z.object({ n: z.number() }),
    execute(_, { toolCallId }) {
      ran.push(toolCallId);
      return toolCallId;
    },
  });
  const ask = tool({ description: 'Asks.', effects: 'none', inputSchema: empty, execute: () => pending() });
  const done = tool({ description: 'Ends.', terminal: true, inputSchema: empty, execute: () => 'done' });
  const tools = { act, ask, done };
  const script: readonly ScriptedReply[] = [
    [{ toolName: 'act', input: { n: 1 } }, { toolName: 'act', input: { n: 'x' } }, { toolName: 'nonsense' }],
    [{ toolName: 'ask' }, { toolName: 'act', input: { n: 2 } }],
    { text: 'cut', finishReason: { unified: 'length', raw: undefined } },
    [{ toolName: 'act', input: { n: 3 } }, { toolName: 'done' }, { toolName: 'act', input: { n: 4 } }],
  ];
  const whole = await runTurn({
    model: scriptedModel(script),
    tools,
    prompt: 'go',
    onPending: 'continue',
    newId: sequentialIds(),
  });
  expect(whole.response).toBe('done');
  const { entries } = whole.transcript.toJSON();
  expect(entries.length).toBeGreaterThan(15);
  // R53: without a prompt the transcript has no message, and a turn on it is refused.
  expect(entries.slice(0, 2).map(({ kind }) => kind)).toEqual(['turn', 'message']);
  for (let length = 2; length <= entries.length; length++) {
    const kept = entries.slice(0, length);
    const transcript = Transcript.fromJSON({ version: 1, entries: kept });
    const replies = kept.filter(({ kind }) => kind === 'reply').length;
    const calls = kept.flatMap((entry) => (entry.kind === 'reply' ? entry.calls : [])).length;
    let id = calls;
    ran.length = 0;
    const model = scriptedModel(script.slice(replies));
    const result = await runTurn({ model, tools, transcript, onPending: 'continue', newId: () => `call-${++id}` });
    expect(result, `prefix of ${length}`).toMatchObject({ response: 'done', stop: whole.stop });
    for (const { prompt } of model.requests) expect(problemOfMessages(prompt), `prefix of ${length}`).toBeUndefined();
    expect(problemOfEntries(transcript.entries), `prefix of ${length}`).toBeUndefined();
    expect(problemOfMessages(transcript.view()), `prefix of ${length}`).toBeUndefined();
    const settled = kept.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement.callId] : []));
    expect(
      ran.filter((callId) => settled.includes(callId)),
      `prefix of ${length}`,
    ).toEqual([]);
    // Existing entries stay unchanged; entries are only added.
    expect(transcript.toJSON().entries.slice(0, length)).toEqual(kept);
  }
});
