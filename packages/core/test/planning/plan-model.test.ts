import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPlanner, type Planner } from './planner.ts';

/** The simplest model of a plan: what each call must do. */
interface Model {
  objective: string | undefined;
  steps: { title: string; status: string }[];
}

const isCompleted = ({ steps }: Model): boolean => steps.length > 0 && steps.every(({ status }) => status === 'done');
const isActive = (model: Model): boolean => model.objective !== undefined && !isCompleted(model);
const fits = (text: string): boolean => text.trim() !== '' && Array.from(text.trim()).length <= 500;

function toPlan(model: Model): unknown {
  if (model.objective === undefined) return null;
  return {
    objective: model.objective,
    status: isCompleted(model) ? 'completed' : 'active',
    steps: model.steps.map(({ title, status }, index) => ({ step_id: index + 1, title, status })),
  };
}

type Command = fc.AsyncCommand<Model, Planner>;

/** A command that expects the model's success or failure, and the model's plan afterwards. */
function command(
  text: string,
  act: (planner: Planner) => ReturnType<Planner['read']>,
  apply: (model: Model) => boolean,
): Command {
  return {
    check: () => true,
    toString: () => text,
    async run(model, planner) {
      const before = planner.plan;
      const succeeds = apply(model);
      expect((await act(planner)).status).toBe(succeeds ? 'ok' : 'error');
      expect(planner.plan).toEqual(toPlan(model));
      if (!succeeds) expect(planner.plan).toBe(before);
    },
  };
}

const pending = (title: string) => ({ title: title.trim(), status: 'pending' });

const setUp = (objective: string, titles: string[]): Command =>
  command(
    `setUp(${JSON.stringify([objective, titles])})`,
    (planner) => planner.setUp(objective, titles),
    (model) => {
      if (![objective, ...titles].every(fits)) return false;
      model.objective = objective.trim();
      model.steps = titles.map(pending);
      return true;
    },
  );

const add = (titles: string[]): Command =>
  command(
    `add(${JSON.stringify(titles)})`,
    (planner) => planner.add(...titles),
    (model) => {
      if (!isActive(model) || titles.length === 0 || !titles.every(fits)) return false;
      model.steps.push(...titles.map(pending));
      return true;
    },
  );

const update = (id: number, title: string | undefined, status: string | undefined): Command =>
  command(
    `update(${JSON.stringify([id, title, status])})`,
    (planner) =>
      planner.update(id, { ...(title === undefined ? {} : { title }), ...(status === undefined ? {} : { status }) }),
    (model) => {
      const step = model.steps[id - 1];
      if (!isActive(model) || step === undefined || (title ?? status) === undefined || !fits(title ?? 'x'))
        return false;
      step.title = title?.trim() ?? step.title;
      step.status = status ?? step.status;
      return true;
    },
  );

const read = (): Command =>
  command(
    'read()',
    (planner) => planner.read(),
    (model) => model.objective !== undefined,
  );

const title = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', ' b ', 'c') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', 'x'.repeat(500), 'y'.repeat(501), '🌍'.repeat(500)) },
);
const status = fc.constantFrom('done', 'done', 'done', 'pending', 'in_progress');
const commands = fc.commands(
  [
    fc.tuple(title, fc.array(title, { maxLength: 3 })).map(([objective, titles]) => setUp(objective, titles)),
    fc.array(title, { maxLength: 2 }).map(add),
    fc
      .tuple(
        fc.integer({ min: 1, max: 4 }),
        fc.option(title, { nil: undefined, freq: 2 }),
        fc.option(status, { nil: undefined }),
      )
      .map(([id, newTitle, newStatus]) => update(id, newTitle, newStatus)),
    fc.integer({ min: 1, max: 3 }).map((id) => update(id, undefined, 'done')),
    fc.constant(read()),
  ],
  { maxCommands: 30, size: '+1' },
);

test('[T49][T50][T51][T52] any sequence of planning calls does the same as a simple model', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      await fc.asyncModelRun(() => ({ model: { objective: undefined, steps: [] }, real: createPlanner() }), sequence);
    }),
    { numRuns: 150 },
  );
});
