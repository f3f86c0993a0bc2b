import type { ToolSet } from '../contract/tool-set.ts';
import { type FailResult, fail, type OkResult, ok } from '../results/result.ts';
import type { Session } from '../session/session.ts';
import { type Tool, tool } from '../tools/tool.ts';
import { type Plan, type PlanSetUp, type PlanStepsAdded, type PlanStepUpdated, plan, type StepStatus } from './plan.ts';

type PlanResult = OkResult<Plan> | FailResult;

interface SetUpInput {
  readonly objective: string;
  readonly initial_steps: readonly string[];
}

interface AddInput {
  readonly steps: readonly string[];
}

interface UpdateInput {
  readonly step_id: number;
  readonly title?: string;
  readonly status?: StepStatus;
}

// Lengths are stated in words and not in the schema: they count after trimming, which a JSON Schema cannot express.
const TITLE = { type: 'string', description: 'What the step does: 1–500 characters.' };

const setUpPlan: Tool<SetUpInput, Plan> = tool<SetUpInput, Plan>({
  description: 'Starts a plan: an objective and its first steps. Replaces any plan there is.',
  inputSchema: {
    type: 'object',
    properties: {
      objective: { type: 'string', description: 'What is to be achieved: 1–500 characters.' },
      initial_steps: { type: 'array', items: TITLE, default: [], description: 'Titles of the steps, in order.' },
    },
    required: ['objective'],
  },
  effects: 'session',
  examples: [
    {
      description: 'Plan a small migration',
      input: { objective: 'Move the reports to the new store', initial_steps: ['List the reports', 'Copy them'] },
      output: {
        objective: 'Move the reports to the new store',
        status: 'active',
        steps: [
          { step_id: 1, title: 'List the reports', status: 'pending' },
          { step_id: 2, title: 'Copy them', status: 'pending' },
        ],
      },
    },
  ],
  execute({ objective, initial_steps }, { session }): PlanResult {
    const problem = problemWith({ objective, ...byField('initial_steps', initial_steps) });
    if (problem !== undefined) return fail(`No plan was stored. ${problem}`, { code: 'invalid_input' });
    // A host may use the tools without their section, and then the slice is not registered yet.
    session.register(plan);
    session.dispatch<PlanSetUp>({ type: 'PlanSetUp', objective: objective.trim(), titles: trimAll(initial_steps) });
    return current(session, `Plan started with ${count(initial_steps)}.`);
  },
});

const addStep: Tool<AddInput, Plan> = tool<AddInput, Plan>({
  description: 'Adds steps to the end of the active plan.',
  inputSchema: {
    type: 'object',
    properties: { steps: { type: 'array', items: TITLE, minItems: 1, description: 'Titles of the steps, in order.' } },
    required: ['steps'],
  },
  effects: 'session',
  execute({ steps }, { session }): PlanResult {
    const refused = refusal(session, 'Steps cannot be added');
    if (refused !== undefined) return fail(refused);
    const problem = problemWith(byField('steps', steps));
    if (problem !== undefined) return fail(`No step was added. ${problem}`, { code: 'invalid_input' });
    session.dispatch<PlanStepsAdded>({ type: 'PlanStepsAdded', titles: trimAll(steps) });
    return current(session, `Added ${count(steps)}.`);
  },
});

const updateStep: Tool<UpdateInput, Plan> = tool<UpdateInput, Plan>({
  description: "Changes a step's status or title. The plan is completed when its last open step is done.",
  inputSchema: {
    type: 'object',
    properties: {
      step_id: { type: 'integer', minimum: 1 },
      title: TITLE,
      status: { type: 'string', enum: ['pending', 'in_progress', 'done'] },
    },
    required: ['step_id'],
  },
  effects: 'session',
  examples: [{ description: 'Mark the first step as done', input: { step_id: 1, status: 'done' } }],
  execute({ step_id, title, status }, { session }): PlanResult {
    const refused = refusal(session, 'Steps cannot be changed') ?? unknownStep(session, step_id);
    if (refused !== undefined) return fail(refused);
    if (title === undefined && status === undefined)
      return fail('Give a title, a status, or both.', { code: 'invalid_input' });
    const problem = title === undefined ? undefined : problemWith({ title });
    if (problem !== undefined) return fail(`The step was not changed. ${problem}`, { code: 'invalid_input' });
    const change = {
      ...(title === undefined ? {} : { title: title.trim() }),
      ...(status === undefined ? {} : { status }),
    };
    session.dispatch<PlanStepUpdated>({ type: 'PlanStepUpdated', step_id, ...change });
    return current(session, `Step ${step_id} updated.`);
  },
});

const readPlan: Tool<Record<string, never>, Plan> = tool<Record<string, never>, Plan>({
  description: 'Shows the plan as it is now.',
  inputSchema: { type: 'object', properties: {} },
  effects: 'none',
  execute: (_input, { session }): PlanResult => current(session, 'The plan:'),
});

/** The four planning tools. They need the slice `plan`, which `planningSection` includes. */
export const planningTools: ToolSet = Object.freeze({
  planning_setup_plan: setUpPlan,
  planning_add_step: addStep,
  planning_update_step: updateStep,
  planning_read_plan: readPlan,
});

const NO_PLAN = 'There is no plan yet. Start one with planning_setup_plan.';

function current(session: Session, message: string): PlanResult {
  const now = session.read(plan);
  if (now === null) return fail(NO_PLAN);
  return ok(now, now.status === 'completed' ? `${message} All steps are done: the plan is completed.` : message);
}

function refusal(session: Session, what: string): string | undefined {
  const now = session.read(plan);
  if (now === null) return NO_PLAN;
  return now.status === 'active'
    ? undefined
    : `${what}: the plan is completed. Start a new one with planning_setup_plan.`;
}

function unknownStep(session: Session, stepId: number): string | undefined {
  const steps = session.read(plan)?.steps ?? [];
  if (steps.some(({ step_id }) => step_id === stepId)) return undefined;
  const known =
    steps.length === 0 ? 'The plan has no steps.' : `The steps are ${steps.map(({ step_id }) => step_id).join(', ')}.`;
  return `There is no step ${stepId}. ${known}`;
}

function trimAll(titles: readonly string[]): readonly string[] {
  return titles.map((title) => title.trim());
}

function count(steps: readonly string[]): string {
  return steps.length === 1 ? '1 step' : `${steps.length} steps`;
}

/** The limit is in code points after trimming: the characters that a reader would count. */
const LONGEST = 500;

/** All problems with the texts, by field, or undefined if they are valid. */
function problemWith(texts: Readonly<Record<string, string>>): string | undefined {
  const problems = Object.entries(texts).flatMap(([field, text]) => {
    const length = [...text.trim()].length;
    return length >= 1 && length <= LONGEST
      ? []
      : [`${field} must be 1–${LONGEST} characters after trimming, not ${length}.`];
  });
  return problems.length === 0 ? undefined : problems.join(' ');
}

/** For example `{ 'steps[0]': …, 'steps[1]': … }`. */
function byField(field: string, texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(texts.map((text, index) => [`${field}[${index}]`, text]));
}
