import { Circle, CircleCheck, CircleDot, type LucideIcon } from 'lucide-react';
import type { ReactElement } from 'react';
import { SafeText } from '../text/safe-text.tsx';
import { type ShownPlan, STEP_WORDS } from './to-plan.ts';

/** The steps of a plan, each with its state. */
export function PlanSteps({ plan }: { plan: ShownPlan }): ReactElement {
  return (
    <ol aria-label="Steps of the plan" className="flex flex-col gap-1">
      {plan.steps.map(({ id, title, status }) => {
        const { icon: Icon, colour } = LOOK[status];
        return (
          <li key={id} className="flex items-baseline gap-2">
            <span className={`inline-flex w-28 shrink-0 items-center gap-1 text-sm ${colour}`}>
              <Icon size={16} aria-hidden className="shrink-0" />
              {STEP_WORDS[status]}
            </span>
            <SafeText text={title} className="min-w-0" />
          </li>
        );
      })}
    </ol>
  );
}

const LOOK: Readonly<Record<keyof typeof STEP_WORDS, { readonly icon: LucideIcon; readonly colour: string }>> = {
  pending: { icon: Circle, colour: 'text-quiet' },
  in_progress: { icon: CircleDot, colour: 'text-accent' },
  done: { icon: CircleCheck, colour: 'text-ok' },
};
