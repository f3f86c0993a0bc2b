import type { AgentConfig, Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { agentSession } from '../../data/agents.ts';
import { EVERY_MS } from '../../data/every.ts';
import { PlanSteps } from '../../parts/plan/plan-list.tsx';
import { progressInWords, toPlan } from '../../parts/plan/to-plan.ts';
import { firstLineOf } from '../../parts/run/timeline/line-words.ts';
import { useMay } from '../../parts/session/session.tsx';
import { contextOf } from './context-of.ts';

/** The plan that the agent keeps in its session. Only its current state is stored, which later runs may have changed. */
export function RunPlan({ run, config }: { run: Run; config: AgentConfig | undefined }): ReactElement | null {
  const mayRead = useMay('admin');
  const { data: slices } = useQuery({
    ...agentSession(run.agentId, contextOf(run)),
    // Only a section of a definition brings a plan.
    enabled: mayRead && config?.definition !== undefined,
    refetchInterval: run.status === 'running' ? EVERY_MS : false,
  });
  const plan = slices === undefined ? undefined : toPlan(slices);
  if (plan === undefined) return null;
  return (
    <details aria-label="Plan" className="border-b border-line bg-surface px-4 wide:px-6 py-2">
      <summary className="text-sm">
        <span className="font-medium">Plan as it is now:</span>{' '}
        <span dir="auto">{withVisibleControls(firstLineOf(plan.objective))}</span>{' '}
        <span className="text-quiet">({progressInWords(plan)})</span>
      </summary>
      <div className="max-h-60 overflow-y-auto pt-2">
        <PlanSteps plan={plan} />
      </div>
    </details>
  );
}
