import { expect, test } from 'vitest';
import { dispatchCall } from '../../src/dispatch/dispatch-call.ts';
import { plan } from '../../src/planning/plan.ts';
import { fail } from '../../src/results/result.ts';
import { createSession, Session } from '../../src/session/create-session.ts';
import { tool } from '../../src/tools/tool.ts';
import { createPlanner, planning } from './planner.ts';

test('[T53] the section registers the slice: a session without plans has one after a rendering', async () => {
  const session = createSession();
  planning.render({ session });
  expect(session.toJSON().slices).toHaveProperty('plan', { version: 1, state: null });
  expect(planning.slices).toEqual([plan]);
});

test('[T53] a rolled-back call leaves the plan unchanged', async () => {
  const planner = createPlanner();
  await planner.setUp('Ship', ['a', 'b']);
  const before = planner.plan;
  const { session } = planner;
  const call = { toolName: 'planning_update_step', input: { step_id: 1, status: 'done' } };
  const policies = [{ name: 'no', afterCall: () => ({ deny: 'not now' }) }];
  const denied = await dispatchCall({ instructions: planning, session, call, policies });
  expect(denied.outcome).toMatchObject({ code: 'denied' });
  expect(planner.plan).toBe(before);
});

test('[T53] a tool that makes a planning call and then fails leaves the plan unchanged', async () => {
  const planner = createPlanner();
  await planner.setUp('Ship', ['a']);
  const before = planner.plan;
  let inside: unknown;
  const replan = tool({
    description: 'Plans, and fails.',
    inputSchema: { type: 'object' },
    effects: 'session',
    execute: async (_input, ctx) => {
      const call = { toolName: 'planning_setup_plan', input: { objective: 'Other', initial_steps: [] } };
      await dispatchCall({ instructions: planning, parent: ctx, call });
      inside = ctx.session.read(plan);
      return fail('Changed my mind.');
    },
  });
  const { session } = planner;
  const { outcome } = await dispatchCall({ tools: { replan }, session, call: { toolName: 'replan' } });
  expect(outcome.status).toBe('error');
  expect(inside).toMatchObject({ objective: 'Other' });
  expect(planner.plan).toBe(before);
});

test('[T53] a checkpoint holds the plan', async () => {
  const planner = createPlanner();
  await planner.setUp('Ship', ['a', 'b']);
  const [checkpoint, before] = [planner.session.snapshot(), planner.plan];
  await planner.update(1, { status: 'done' });
  await planner.add('c');
  planner.session.restore(checkpoint);
  expect(planner.plan).toBe(before);
  await planner.add('d');
  expect(planner.plan?.steps.map(({ step_id, title }) => [step_id, title])).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'd'],
  ]);
});

test('[T53] a restart keeps the plan, and it continues where it was', async () => {
  const planner = createPlanner();
  await planner.setUp('Ship', ['a', 'b']);
  await planner.update(1, { status: 'done' });
  const again = createPlanner(Session.fromJSON(JSON.stringify(planner.session), { slices: [plan] }));
  expect(again.plan).toEqual(planner.plan);
  await again.add('c');
  expect(again.plan?.steps.map(({ step_id, status }) => [step_id, status])).toEqual([
    [1, 'done'],
    [2, 'pending'],
    [3, 'pending'],
  ]);
});

test('[T53] a plan that was read cannot be changed in place', async () => {
  const planner = createPlanner();
  await planner.setUp('Ship', ['a']);
  expect(() => Object.assign(planner.plan?.steps[0] ?? {}, { status: 'done' })).toThrow(TypeError);
});
