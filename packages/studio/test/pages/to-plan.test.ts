import { expect, test } from 'vitest';
import { progressInWords, toPlan } from '../../src/parts/plan/to-plan.ts';

const slices = (state: unknown) => ({ plan: { version: 1, state } });
const step = { step_id: 1, title: 'Look', status: 'done' };

test('[A12] a plan is an objective with steps, each with a title and a state', () => {
  const plan = toPlan(
    slices({ objective: 'Find it', status: 'active', steps: [step, { ...step, status: 'pending' }] }),
  );
  expect(plan).toMatchObject({
    objective: 'Find it',
    steps: [{ title: 'Look', status: 'done' }, { status: 'pending' }],
  });
  expect(plan && progressInWords(plan)).toBe('1 of 2 steps done');
});

test('[A12] another value in a slice with the name of the plan is not shown as a plan', () => {
  const others = [
    null,
    7,
    'text',
    {},
    { objective: 'Find it' },
    { objective: 'Find it', steps: [{ ...step, status: 'constructor' }] },
  ];
  for (const state of others) expect(toPlan(slices(state))).toBeUndefined();
  expect(toPlan({})).toBeUndefined();
});
