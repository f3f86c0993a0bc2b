import type { StepRow } from '@lastcall/client/timeline';
import { expect, test } from 'vitest';
import { pairSteps } from '../../src/pages/compare/pair-steps.ts';

const stepsOf = (...instances: readonly string[]): readonly StepRow[] =>
  instances.map((instanceId, index) => {
    const origin = instanceId === '' ? undefined : { node: 'node', instanceId };
    return { kind: 'step', step: index + 1, origin } as StepRow;
  });

const pairs = (left: readonly StepRow[], right: readonly StepRow[]): readonly string[] =>
  pairSteps(left, right).map((pair) => `${pair.left.step}-${pair.right.step}`);

test('[E3] the requests of two runs are compared instance by instance, also if another worker was faster', () => {
  const left = stepsOf('root', 'root.1', 'root.2', 'root.1', 'root');
  const right = stepsOf('root', 'root.2', 'root.1', 'root.2', 'root', 'root');
  expect(pairs(left, right)).toEqual(['1-1', '3-2', '2-3', '5-5']);
});

test('[E3] the requests of runs without instances are compared in their order', () => {
  expect(pairs(stepsOf('', ''), stepsOf('', '', ''))).toEqual(['1-1', '2-2']);
});
