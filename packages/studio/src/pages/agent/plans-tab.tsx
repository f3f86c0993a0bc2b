import type { Agent, Plan } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { agentPlans } from '../../data/agents.ts';
import { SafeText } from '../../parts/text/safe-text.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { useNow } from '../../parts/ui/time.tsx';
import { cronInWords, dueInWords } from './plan-words.ts';

/** When the agent wakes by itself. */
export function PlansTab({ agent }: { agent: Agent }): ReactElement | null {
  const { data: plans, error, refetch } = useQuery(agentPlans(agent.id));
  if (plans === undefined) return error === null ? null : <ErrorNote error={error} retry={() => void refetch()} />;
  if (plans.length === 0)
    return (
      <EmptyState title="No plans.">
        <p>Agents make their own plans: write “every morning at nine, report” in one of its spaces.</p>
      </EmptyState>
    );
  return (
    <ul aria-label="Plans" className="rounded-card border border-line bg-surface">
      {plans.map((plan) => (
        <PlanRow key={plan.id} plan={plan} />
      ))}
    </ul>
  );
}

function PlanRow({ plan }: { plan: Plan }): ReactElement {
  const now = useNow(60_000);
  const { name, instruction, cron, timeZone, nextAt, lastAt, misfire } = plan;
  return (
    <li className="flex flex-col gap-1 border-b border-line px-4 py-3 last:border-b-0">
      <p className="font-medium">{withVisibleControls(name)}</p>
      <SafeText text={instruction} />
      <p className="text-sm">
        {nextAt === undefined ? 'It will not be due again.' : `Next: ${dueInWords(nextAt, now, timeZone)}`}
      </p>
      <p className="flex flex-wrap gap-x-3 text-xs text-quiet">
        <span>{cron === undefined ? 'once' : cronInWords(cron)}</span>
        {lastAt !== undefined && <span>last: {dueInWords(lastAt, now, timeZone)}</span>}
        <span>
          {misfire === 'once' ? 'If it is missed, it runs once afterwards.' : 'If it is missed, it is skipped.'}
        </span>
      </p>
    </li>
  );
}
