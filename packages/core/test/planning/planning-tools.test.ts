import { describe, expect, test } from 'vitest';
import { dispatchCall } from '../../src/dispatch/dispatch-call.ts';
import { plan } from '../../src/planning/plan.ts';
import { planningTools } from '../../src/planning/planning-tools.ts';
import { createSession } from '../../src/session/create-session.ts';
import { createPlanner, planning } from './planner.ts';

const step = (step_id: number, title: string, status = 'pending') => ({ step_id, title, status });

describe('[T49] the planning tools', () => {
  test('are these four, in this order', () => {
    expect(Object.keys(planning.render().tools)).toEqual([
      'planning_setup_plan',
      'planning_add_step',
      'planning_update_step',
      'planning_read_plan',
    ]);
  });

  test('fail without a plan, saying so, all but the one that starts it', async () => {
    const planner = createPlanner();
    for (const outcome of [
      await planner.add('One'),
      await planner.update(1, { status: 'done' }),
      await planner.read(),
    ]) {
      expect(outcome).toMatchObject({ status: 'error' });
      expect(outcome.text).toContain('There is no plan yet');
    }
    expect(planner.plan).toBeNull();
  });

  test('work without their section too', async () => {
    const session = createSession();
    const call = { toolName: 'planning_setup_plan', input: { objective: 'Ship', initial_steps: ['Pack'] } };
    expect((await dispatchCall({ tools: planningTools, session, call })).outcome.status).toBe('ok');
    expect(session.read(plan)?.steps).toEqual([step(1, 'Pack')]);
  });
});

describe('[T50] planning_setup_plan', () => {
  test('starts an active plan with steps 1…n, all pending, and returns it', async () => {
    const planner = createPlanner();
    const outcome = await planner.setUp('  Ship it ', [' Build\n', 'Test']);
    const expected = { objective: 'Ship it', status: 'active', steps: [step(1, 'Build'), step(2, 'Test')] };
    expect(planner.plan).toEqual(expected);
    expect(outcome).toMatchObject({ status: 'ok', value: expected });
    expect(outcome.text).toBe(`Plan started with 2 steps.\n\n${JSON.stringify(expected)}`);
  });

  test('accepts an empty list of steps', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship it');
    expect(planner.plan).toEqual({ objective: 'Ship it', status: 'active', steps: [] });
    await planner.call('planning_setup_plan', { objective: 'Again' });
    expect(planner.plan).toEqual({ objective: 'Again', status: 'active', steps: [] });
  });

  test('a second one replaces the plan and starts at 1', async () => {
    const planner = createPlanner();
    await planner.setUp('First', ['a', 'b', 'c']);
    await planner.update(2, { status: 'in_progress' });
    await planner.setUp('Second', ['d']);
    expect(planner.plan).toEqual({ objective: 'Second', status: 'active', steps: [step(1, 'd')] });
  });

  test.each([
    ['an empty objective', '', ['a'], 'objective'],
    ['a blank objective', ' \n\t', ['a'], 'objective'],
    ['an objective of 501 characters', 'x'.repeat(501), ['a'], 'objective'],
    ['a blank title', 'Ship', ['a', ' '], 'initial_steps[1]'],
    ['a title of 501 characters', 'Ship', ['x'.repeat(501), 'a'], 'initial_steps[0]'],
  ])('%s is refused, naming the field, and nothing is stored', async (_case, objective, steps, field) => {
    const planner = createPlanner();
    const outcome = await planner.setUp(objective, steps);
    expect(outcome).toMatchObject({ status: 'error', code: 'invalid_input' });
    expect(outcome.text).toContain(`${field} must be 1–500 characters`);
    expect(planner.plan).toBeNull();
    await planner.setUp('Kept', ['k']);
    const kept = planner.plan;
    await planner.setUp(objective, steps);
    expect(planner.plan).toBe(kept);
  });

  test('500 characters fit, counted after trimming and as a reader counts them', async () => {
    const planner = createPlanner();
    const [longest, wide] = ['x'.repeat(500), '🌍'.repeat(500)];
    expect((await planner.setUp(`  ${longest}  `, [`\n${wide}\n`])).status).toBe('ok');
    expect(planner.plan).toMatchObject({ objective: longest, steps: [{ title: wide }] });
    expect((await planner.setUp(`${wide}🌍`)).status).toBe('error');
  });

  test.each([
    {},
    { initial_steps: ['a'] },
    { objective: 1 },
    { objective: 'x', initial_steps: 'a' },
    { objective: 'x', initial_steps: [1] },
    { objective: 'x', steps: [] },
  ])('the input %j is invalid', async (input) => {
    const planner = createPlanner();
    expect(await planner.call('planning_setup_plan', input)).toMatchObject({ code: 'invalid_input' });
    expect(planner.plan).toBeNull();
  });
});

describe('[T51] planning_add_step', () => {
  test('appends steps with ids after the highest one', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a']);
    await planner.add(' b ', 'c');
    expect((await planner.add('d')).text).toContain('Added 1 step.');
    expect(planner.plan?.steps).toEqual([step(1, 'a'), step(2, 'b'), step(3, 'c'), step(4, 'd')]);
  });

  test('needs at least one title', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a']);
    expect(await planner.add()).toMatchObject({ status: 'error', code: 'invalid_input' });
    expect(planner.plan?.steps).toHaveLength(1);
  });

  test.each([[['b', '']], [['  ', 'b']], [['b', 'x'.repeat(501), 'c']]])('adds all or none: %#', async (titles) => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a']);
    const before = planner.plan;
    const outcome = await planner.add(...titles);
    expect(outcome).toMatchObject({ status: 'error', code: 'invalid_input' });
    expect(outcome.text).toMatch(/steps\[\d\] must be 1–500/);
    expect(planner.plan).toBe(before);
  });
});

describe('[T52] planning_update_step', () => {
  test('changes a title, a status, or both, and nothing else', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a', 'b']);
    await planner.update(1, { title: ' A ' });
    await planner.update(2, { status: 'in_progress' });
    expect(planner.plan?.steps).toEqual([step(1, 'A'), step(2, 'b', 'in_progress')]);
    await planner.update(2, { title: 'B', status: 'done' });
    expect(planner.plan?.steps).toEqual([step(1, 'A'), step(2, 'B', 'done')]);
    expect(planner.plan?.status).toBe('active');
  });

  test('needs a title or a status', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a']);
    const outcome = await planner.update(1);
    expect(outcome).toMatchObject({ status: 'error' });
    expect(outcome.text).toContain('Give a title, a status, or both');
  });

  test('fails for a step that does not exist, naming those that do', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a', 'b']);
    const outcome = await planner.update(3, { status: 'done' });
    expect(outcome).toMatchObject({ status: 'error', message: 'There is no step 3. The steps are 1, 2.' });
    await planner.setUp('Ship');
    expect((await planner.update(1, { status: 'done' })).text).toContain('The plan has no steps');
  });

  test.each([{ title: ' ' }, { title: 'x'.repeat(501) }, { status: 'finished' }, { title: 'ok', status: 'DONE' }])(
    'refuses the change %# and keeps the plan',
    async (change) => {
      const planner = createPlanner();
      await planner.setUp('Ship', ['a', 'b']);
      const before = planner.plan;
      expect(await planner.update(1, change)).toMatchObject({ status: 'error', code: 'invalid_input' });
      expect(planner.plan).toBe(before);
    },
  );

  test.each(['1', 1.5, 0, -1, null])('refuses the step id %j', async (step_id) => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a']);
    expect(await planner.update(step_id as number, { status: 'done' })).toMatchObject({ code: 'invalid_input' });
  });

  test('lets a step go back from done to pending while the plan is active', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a', 'b']);
    await planner.update(1, { status: 'done' });
    await planner.update(1, { status: 'pending' });
    expect(planner.plan).toMatchObject({ status: 'active', steps: [step(1, 'a'), step(2, 'b')] });
  });

  test('completes the plan with its last open step, in any order', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a', 'b']);
    await planner.update(2, { status: 'done' });
    expect(planner.plan?.status).toBe('active');
    const outcome = await planner.update(1, { status: 'done' });
    expect(outcome).toMatchObject({ status: 'ok', value: { status: 'completed' } });
    expect(outcome.text).toContain('the plan is completed');
    expect(planner.plan?.status).toBe('completed');
  });

  test('on a completed plan add and update fail, read works, and setup starts a new plan', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship', ['a']);
    await planner.update(1, { status: 'done' });
    const completed = planner.plan;
    for (const outcome of [
      await planner.add('b'),
      await planner.update(1, { status: 'pending' }),
      await planner.update(9),
    ]) {
      expect(outcome).toMatchObject({ status: 'error' });
      expect(outcome.text).toContain('the plan is completed');
    }
    expect(planner.plan).toBe(completed);
    expect(await planner.read()).toMatchObject({ status: 'ok', value: completed });
    await planner.setUp('Next', ['z']);
    expect(planner.plan).toEqual({ objective: 'Next', status: 'active', steps: [step(1, 'z')] });
  });

  test('a plan without steps never completes, and accepts steps', async () => {
    const planner = createPlanner();
    await planner.setUp('Ship');
    await planner.update(1, { status: 'done' });
    expect(planner.plan?.status).toBe('active');
    expect((await planner.add('a')).status).toBe('ok');
  });
});

test('[T52] events that do not apply do not change the plan, also if the host dispatches them', () => {
  const session = createSession({ slices: [plan] });
  session.dispatch({ type: 'PlanStepsAdded', titles: ['a'] });
  session.dispatch({ type: 'PlanStepUpdated', step_id: 1, status: 'done' });
  expect(session.read(plan)).toBeNull();
  session.dispatch({ type: 'PlanSetUp', objective: 'Ship', titles: [] });
  session.dispatch({ type: 'PlanStepUpdated', step_id: 1, status: 'done' });
  expect(session.read(plan)).toEqual({ objective: 'Ship', status: 'active', steps: [] });
  session.dispatch({ type: 'PlanStepsAdded', titles: ['a'] });
  session.dispatch({ type: 'PlanStepUpdated', step_id: 1, status: 'done' });
  session.dispatch({ type: 'PlanStepsAdded', titles: ['b'] });
  session.dispatch({ type: 'PlanStepUpdated', step_id: 1, status: 'pending' });
  expect(session.read(plan)).toEqual({ objective: 'Ship', status: 'completed', steps: [step(1, 'a', 'done')] });
});
