import { expect, test } from 'vitest';
import { z } from 'zod';
import { prompt, section } from '../../src/doors/prompt.ts';
import { sqliteJournal } from '../../src/doors/sqlite-journal.ts';
import { createSession, replay, runTurn, Transcript, type TurnOptions, toAiSdkTools, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const inputSchema = z.object({});
const act = tool({ description: 'Acts.', inputSchema, execute: () => 'done' });
const store = sqliteJournal({ path: ':memory:' });
const thread = store.thread('a');
const records = [{ entry: { kind: 'turn' } }] as const;
const instructions = prompt({ ns: 'n', key: 'k', sections: [section({ key: 's', title: 'S', template: 'Text.' })] });
const run = (options: object) =>
  runTurn({ model: scriptedModel(['Never.']), prompt: 'Go.', ...options } as TurnOptions);
const any = (value: unknown): never => value as never;

const mistakes: readonly (readonly [what: string, mistake: () => unknown, says: string])[] = [
  ['a thread as the journal', () => run({ journal: thread }), 'thread.journal'],
  ['a store as the journal', () => run({ journal: store }), 'store.thread(id).journal'],
  ['records as the entries of a transcript', () => new Transcript(any(records)), 'records.map(({ entry }) => entry)'],
  ['stored JSON as the entries of a transcript', () => new Transcript(any({ version: 1 })), 'Transcript.fromJSON'],
  ['entries as stored JSON', () => Transcript.fromJSON(any([])), 'toJSON()'],
  ['a thread as the records', () => replay(createSession(), any(thread)), 'thread.records()'],
  ['entries as the records', () => replay(createSession(), any([{ kind: 'turn' }])), '{ entry, staged }'],
  ['one tool as the tools', () => run({ tools: act }), '{ search: tool({ … }) }'],
  ['a Map as the tools', () => run({ tools: new Map([['act', act]]) }), 'Object.fromEntries(map)'],
  ['a prompt as the tools', () => run({ tools: instructions }), 'as instructions'],
  ['a schema as a tool', () => run({ tools: { act: inputSchema } }), '"act" is not a tool'],
  ['a tool set as a tool', () => toAiSdkTools(any({ tools: { act } })), '"tools" is not a tool'],
  ['a session as the options', () => toAiSdkTools({ act }, any(createSession())), '{ session }'],
  ['a path as the options', () => sqliteJournal(any('journal.sqlite')), 'must be an object. Known: path.'],
  ['a policy whose hook has another name', () => run({ policies: [{ name: 'no', before: () => ({}) }] }), 'beforeCall'],
  ['a duration as the deadline', () => run({ deadline: 30_000 }), 'not a duration'],
];
test.each(mistakes)('[R53] %s is refused with what to give instead', async (_what, mistake, says) => {
  await expect((async () => mistake())()).rejects.toThrow(says);
});

test('[R53] a policy whose hooks are all left out is accepted', async () => {
  expect((await run({ policies: [{ name: 'off', tools: ['act'], beforeCall: undefined }] })).response).toBe('Never.');
});
