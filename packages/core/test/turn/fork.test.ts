import { expect, test } from 'vitest';
import { z } from 'zod';
import { pending, rewindTool, runTurn, Transcript, tool } from '../../src/index.ts';
import { memoryJournal } from '../../src/testing/memory-journal.ts';
import { type ScriptedModel, type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import type { Entry } from '../../src/transcript/entry.ts';

const what = z.object({ what: z.string().optional() });
const look = tool({
  description: 'Looks.',
  inputSchema: what,
  effects: 'none',
  keepLatest: 'screen',
  execute: ({ what = 'nothing' }) => `screen ${what}`,
});
const ask = tool({ description: 'Asks.', inputSchema: what, effects: 'none', execute: () => pending() });
const done = tool({ description: 'Ends.', inputSchema: what, terminal: true, execute: () => 'done' });
const tools = { look, ask, done, rewind: rewindTool };

/** Calls under ids of the provider, which may be repeated. */
const calling = (
  ...calls: readonly (readonly [toolName: string, toolCallId: string, input?: object])[]
): ScriptedReply => ({
  content: calls.map(([toolName, toolCallId, input = {}]) => ({
    type: 'tool-call',
    toolCallId,
    toolName,
    input: JSON.stringify(input),
  })),
});

const by = (provider: string, replies: readonly ScriptedReply[]): ScriptedModel => ({
  ...scriptedModel(replies),
  provider,
});

/** A history in which earlier messages change: slots, repeated ids, a late answer, a rewind, a trimmed batch. */
async function history(): Promise<readonly Entry[]> {
  const transcript = new Transcript();
  const newId = sequentialIds();
  const turn = async (model: ScriptedModel, options: object = {}): Promise<void> => {
    await runTurn({ model, tools, transcript, prompt: 'Go.', newId, ...options });
  };
  await turn(by('one', [calling(['look', 'a', { what: 'first' }]), calling(['look', 'b']), 'Ok.']));
  await turn(by('two', [calling(['look', 'a'], ['look', 'c'], ['look', 'c'])]), { maxSteps: 1 });
  await turn(by('one', [calling(['ask', 'q']), 'Later.']), { onPending: 'continue' });
  const [waiting = ''] = transcript.progress.waiting.keys();
  await turn(by('one', ['Thanks.']), { answers: { [waiting]: { result: 42 } } });
  await turn(
    by('one', [calling(['look', 'd']), calling(['rewind', 'e', { reason: 'No.', guidance: 'Again.' }]), 'Ok.']),
  );
  await turn(by('one', [calling(['done', 'f'], ['look', 'b'])]), { terminating: { toolIds: ['done'] } });
  expect(new Set(transcript.entries.map(({ kind }) => kind)).size).toBeGreaterThan(7);
  return transcript.entries;
}

/** The results of all methods of a transcript. */
function asked(transcript: Transcript): unknown {
  const { entries, progress } = transcript;
  const views = ['one', 'two'].map((provider) => transcript.viewFor(provider));
  return structuredClone({ entries, progress, view: transcript.view(), views });
}

function callsIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : []));
}

test('[R40] a fork at any point behaves like a transcript of all entries, and its base is unchanged', async () => {
  const entries = await history();
  for (let at = 0; at <= entries.length; at++) {
    const [before, rest] = [entries.slice(0, at), entries.slice(at)];
    const base = new Transcript(before);
    // A base whose messages were read has derived data, which the fork reuses.
    const isAsked = at % 3;
    if (isAsked > 0) base.viewFor(isAsked === 1 ? 'one' : 'two');
    const untouched = asked(new Transcript(before));
    const [forked, other] = [base.fork(), base.fork()];
    expect(asked(other)).toEqual(untouched);
    forked.push(...rest);
    expect(asked(forked)).toEqual(asked(new Transcript(entries)));
    expect([asked(base), asked(other)]).toEqual([untouched, untouched]);
    const callIds = callsIn(rest);
    expect(callIds.map((callId) => [base.hasCall(callId), forked.hasCall(callId)])).toEqual(
      callIds.map(() => [false, true]),
    );
  }
});

test('[R40] a fork of a base that grew by forks derives nothing again', async () => {
  const entries = await history();
  const base = new Transcript();
  for (const entry of entries) {
    base.viewFor('one');
    base.push(entry);
    expect(asked(base.fork())).toEqual(asked(base));
  }
  const before = base.viewFor('one');
  expect(
    base
      .fork()
      .viewFor('one')
      .every((message, index) => message === before[index]),
  ).toBe(true);
});

test('[R40] a base that continues, and a fork of a fork, do not change what a fork shows', async () => {
  const entries = await history();
  for (let at = 0; at <= entries.length; at++) {
    const [before, rest] = [entries.slice(0, at), entries.slice(at)];
    const base = new Transcript(before);
    if (at % 2 === 1) base.viewFor('one');
    const untouched = asked(new Transcript(before));
    const forked = base.fork();
    const second = forked.fork();
    second.push(...rest);
    base.push(...rest);
    expect(asked(forked)).toEqual(untouched);
    const has = (transcript: Transcript): readonly boolean[] =>
      callsIn(entries).map((callId) => transcript.hasCall(callId));
    expect(has(forked)).toEqual(has(new Transcript(before)));
    expect([has(second), has(base)]).toEqual([has(new Transcript(entries)), has(new Transcript(entries))]);
    forked.push(...rest);
    expect([asked(forked), asked(base)]).toEqual([asked(new Transcript(entries)), asked(new Transcript(entries))]);
  }
});

test('[R40] of the calls of earlier turns that have ended, a fork copies no notes', async () => {
  const transcript = new Transcript();
  const newId = sequentialIds();
  const act = tool({ description: 'Acts.', inputSchema: what, execute: () => 'done' });
  for (let turn = 0; turn < 3; turn++)
    await runTurn({
      model: by('one', [calling(['act', 'a']), 'Ok.']),
      tools: { act },
      transcript,
      journal: memoryJournal(),
      prompt: 'Go.',
      newId,
    });
  const calls = transcript.entries.flatMap((entry) => (entry.kind === 'started' ? [entry.callId] : []));
  expect(calls).toHaveLength(3);
  expect([...transcript.fork().progress.started]).toEqual(calls.slice(2));
});

test('[R40] messages of a view cannot be changed, so no other fork is affected', async () => {
  const base = new Transcript(await history());
  base.viewFor('one');
  const [one, other] = [base.fork(), base.fork()];
  const before = asked(other);
  for (const message of [...one.view(), ...one.viewFor('one')]) {
    expect(() => Object.assign(message, { role: 'system', content: 'Forged.' })).toThrow(TypeError);
    for (const part of typeof message.content === 'string' ? [] : message.content)
      expect(() => Object.assign(part, { type: 'forged' })).toThrow(TypeError);
  }
  expect(asked(other)).toEqual(before);
});
