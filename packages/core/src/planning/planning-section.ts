import { type Section, section } from '../contract/section.ts';
import { plan } from './plan.ts';
import { type PlanningStrategy, strategyInstructions } from './planning-strategy.ts';
import { planningTools } from './planning-tools.ts';

export interface PlanningOptions {
  /** Default 'react'. Names in upper case work too. */
  strategy?: PlanningStrategy | Uppercase<PlanningStrategy>;
  /** Default 'planning'. */
  key?: string;
  /** Default 'Planning'. */
  title?: string;
}

const TOOLS_TEXT = `For work of more than a step or two, keep a plan. It is yours, it stays between your replies, and others may read it:

- planning_setup_plan starts it, and replaces it when the objective changes.
- planning_add_step adds steps at its end.
- planning_update_step sets a step to in_progress when you begin it and to done when it is finished. When every step is done, the plan is completed.
- planning_read_plan shows it. Read it when you are not sure where you are.`;

/** A section that lets a model plan: instructions, the four tools and the slice `plan`. It needs nothing else. */
export function planningSection({
  strategy = 'react',
  key = 'planning',
  title = 'Planning',
}: PlanningOptions = {}): Section {
  return section({
    key,
    title,
    template: `${TOOLS_TEXT}\n\n${strategyInstructions(strategy)}`,
    tools: planningTools,
    slices: [plan],
  });
}
