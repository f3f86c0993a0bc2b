import { type SessionEvent, type Slice, slice } from '../session/slice.ts';

export interface Plan {
  readonly objective: string;
  readonly status: 'active' | 'completed';
  readonly steps: readonly PlanStep[];
}

export interface PlanStep {
  /** Steps are numbered from 1, in the order they were added. */
  readonly step_id: number;
  readonly title: string;
  readonly status: StepStatus;
}

export type StepStatus = 'pending' | 'in_progress' | 'done';

export interface PlanSetUp extends SessionEvent {
  readonly type: 'PlanSetUp';
  readonly objective: string;
  readonly titles: readonly string[];
}

export interface PlanStepsAdded extends SessionEvent {
  readonly type: 'PlanStepsAdded';
  readonly titles: readonly string[];
}

export interface PlanStepUpdated extends SessionEvent {
  readonly type: 'PlanStepUpdated';
  readonly step_id: number;
  readonly title?: string;
  readonly status?: StepStatus;
}

/** The plan of a session, or null before there is one. An event that does not apply changes nothing. */
export const plan: Slice<Plan | null> = slice<Plan | null>('plan', {
  initial: null,
  on: {
    PlanSetUp: (_old, { objective, titles }: PlanSetUp) => addSteps({ objective, status: 'active', steps: [] }, titles),
    PlanStepsAdded: (old, { titles }: PlanStepsAdded) => (old?.status === 'active' ? addSteps(old, titles) : old),
    PlanStepUpdated: (old, event: PlanStepUpdated) => (old?.status === 'active' ? updateStep(old, event) : old),
  },
});

function addSteps(old: Plan, titles: readonly string[]): Plan {
  const highest = old.steps.reduce((most, { step_id }) => Math.max(most, step_id), 0);
  const added = titles.map((title, index): PlanStep => ({ step_id: highest + index + 1, title, status: 'pending' }));
  return { ...old, steps: [...old.steps, ...added] };
}

function updateStep(old: Plan, { step_id, title, status }: PlanStepUpdated): Plan {
  const steps = old.steps.map((step) =>
    step.step_id === step_id ? { step_id, title: title ?? step.title, status: status ?? step.status } : step,
  );
  return { ...old, status: isFinished(steps) ? 'completed' : 'active', steps };
}

/** A plan without steps is not finished: nothing has been done yet. */
function isFinished(steps: readonly PlanStep[]): boolean {
  return steps.length > 0 && steps.every(({ status }) => status === 'done');
}
