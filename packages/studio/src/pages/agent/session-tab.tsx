import type { Agent } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { agentSession } from '../../data/agents.ts';
import { PlanSteps } from '../../parts/plan/plan-list.tsx';
import { progressInWords, toPlan } from '../../parts/plan/to-plan.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { JsonText, SafeText } from '../../parts/text/safe-text.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { OfConversation } from './of-conversation.tsx';

const route = getRouteApi('/agents/$id');

/** The state that the agent's tools and sections share. */
export function SessionTab({ agent }: { agent: Agent }): ReactElement {
  const { context } = route.useSearch();
  return (
    <Requires scope="admin" to="see the session of an agent">
      <OfConversation agent={agent} tab="session" contextId={context} />
      <Slices agentId={agent.id} contextId={context} />
    </Requires>
  );
}

function Slices({
  agentId,
  contextId,
}: {
  agentId: string;
  contextId: string | undefined;
}): ReactElement | readonly ReactElement[] | null {
  const { data: slices, error, refetch } = useQuery(agentSession(agentId, contextId));
  if (slices === undefined) return error === null ? null : <ErrorNote error={error} retry={() => void refetch()} />;
  const names = Object.keys(slices).toSorted();
  if (names.length === 0)
    return (
      <EmptyState title="Its session is empty.">
        <p>Tools and sections keep their state here, each in a slice. It is written when a call succeeds.</p>
      </EmptyState>
    );
  const plan = toPlan(slices);
  return names.map((name) => (
    <Section
      key={name}
      title={withVisibleControls(name)}
      aside={<span className="text-xs text-quiet">slice, version {slices[name]?.version}</span>}
    >
      {name === 'plan' && plan !== undefined ? (
        <>
          <p className="flex flex-wrap items-baseline gap-x-3">
            <SafeText text={plan.objective} className="font-medium" />
            <span className="text-sm text-quiet">{progressInWords(plan)}</span>
          </p>
          <PlanSteps plan={plan} />
        </>
      ) : (
        <JsonText value={JSON.stringify(slices[name]?.state, null, 2)} label={`Slice ${name}`} />
      )}
    </Section>
  ));
}
