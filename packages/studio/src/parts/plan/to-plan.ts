import type { Slice } from '@lastcall/client';

/** The plan that an agent with a planning section keeps in its session. */
export interface ShownPlan {
  readonly objective: string;
  readonly steps: readonly PlanStep[];
}

interface PlanStep {
  readonly id: number;
  readonly title: string;
  readonly status: keyof typeof STEP_WORDS;
}

export const STEP_WORDS = { pending: 'to do', in_progress: 'in progress', done: 'done' } as const;

/** Undefined if the session has no plan, or a slice of that name that is no plan. */
export function toPlan(slices: Readonly<Record<string, Slice>>): ShownPlan | undefined {
  const { objective, steps } = asObject(Object.hasOwn(slices, 'plan') ? slices.plan?.state : undefined);
  if (typeof objective !== 'string' || !Array.isArray(steps)) return undefined;
  const shown = steps.map(toStep);
  return shown.every((step) => step !== undefined) ? { objective, steps: shown } : undefined;
}

function toStep(step: unknown): PlanStep | undefined {
  const { step_id: id, title, status } = asObject(step);
  if (typeof id !== 'number' || typeof title !== 'string' || typeof status !== 'string') return undefined;
  return Object.hasOwn(STEP_WORDS, status) ? { id, title, status: status as PlanStep['status'] } : undefined;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** `2 of 5 steps done`. */
export function progressInWords({ steps }: ShownPlan): string {
  if (steps.length === 0) return 'no steps yet';
  return `${steps.filter(({ status }) => status === 'done').length} of ${steps.length} steps done`;
}
