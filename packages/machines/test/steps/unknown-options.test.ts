import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { charter, createMachine, node, runMachine } from '../../src/index.ts';

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
