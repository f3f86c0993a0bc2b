import { sqliteJournal } from '@lastcall/core/sqlite-journal';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { charter, createMachine, machineFromRecords, node, pack, runMachine, suspend } from '../../src/index.ts';

const root = node({ instructions: 'root' });
const loose = (make: (...given: never[]) => unknown) => make as (...given: unknown[]) => unknown;

test('[R53] an option that runMachine or createMachine does not know is refused at once, with the nearest one', () => {
  const all = charter({ nodes: { root } });
  const machine = createMachine(all, { root });
  const run = (option: object) => () => loose(runMachine)(machine, { model: scriptedModel(['Hi.']), ...option });
  expect(run({ maxStep: 3 })).toThrow('Option "maxStep" is not known. Did you mean "maxSteps"?');
  expect(run({ prompt: 'Hi' })).toThrow('Option "prompt" is not known. Did you mean "input"?');
  expect(run({ maxSteps: 3, signal: undefined })).not.toThrow();
  expect(() => loose(createMachine)(all, { root, stat: {} })).toThrow('"stat" is not known. Did you mean "state"?');
});

test('[R53] an option that node, pack, charter, suspend or a command does not know is refused at once, with the nearest one', async () => {
  const refused = (make: (...given: never[]) => unknown, ...given: unknown[]) => expect(() => loose(make)(...given));
  refused(node, { instructions: 'root', transition: {} }).toThrow(
    '"transition" is not known. Did you mean "transitions"?',
  );
  refused(node, { system: 'root' }).toThrow('"system" is not known. Did you mean "instructions"?');
  refused(pack, { name: 'p', state: {}, instruction: '' }).toThrow('"instruction" is not known. Did you mean');
  refused(charter, { nodes: { root }, tool: {} }).toThrow('"tool" is not known. Did you mean "tools"?');
  refused(suspend, 'Why?', { expiresInMS: 5 }).toThrow('"expiresInMS" is not known. Did you mean "expiresInMs"?');
  const commanded = node({ instructions: 'root', commands: { go: () => 1 } });
  const machine = createMachine(charter({ nodes: { commanded } }), { root: 'commanded' });
  await expect(machine.command('go', {}, { idempotencykey: 'k' } as never)).rejects.toThrow(
    '"idempotencykey" is not known. Did you mean "idempotencyKey"?',
  );
  expect(await machine.command('go', {}, { idempotencyKey: 'k' })).toBe(1);
});

test('[R53] a journal, records or a suspension in the place of another object is refused with what to give instead', () => {
  const all = charter({ nodes: { root } });
  const machine = createMachine(all, { root });
  const store = sqliteJournal({ path: ':memory:' });
  const thread = store.thread('a');
  const run = (journal: unknown) => () => loose(runMachine)(machine, { model: scriptedModel(['Hi.']), journal });
  expect(run(thread)).toThrow('thread.journal');
  expect(run(store)).toThrow('store.thread(id).journal');
  expect(() => loose(machineFromRecords)(all, thread)).toThrow('thread.records()');
  expect(() => machine.resume({ id: 'x' } as never)).toThrow('machine.suspended[0].id');
  expect(machine.answer(undefined as never, { result: 1 })).toBe(false);
  expect(() => loose(createMachine)(all, 'root')).toThrow('must be an object. Known: root');
});
