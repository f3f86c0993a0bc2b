import type { Agent } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { agentPages } from '../../data/agents.ts';
import { StatusMark } from '../../parts/agent/status-mark.tsx';
import { useListKeys } from '../../parts/keyboard/list-keys.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { DamagedNote } from '../../parts/text/damaged-note.tsx';
import { Avatar } from '../../parts/ui/avatar.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { ListHead } from '../../parts/ui/list-head.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { duration, Time, useNow } from '../../parts/ui/time.tsx';
import { NewAgentForm } from './new-agent-form.tsx';

export function AgentsPage(): ReactElement {
  const mayCreate = useMay('write');
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="Agents"
      aside={
        mayCreate && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            <Plus size={16} aria-hidden /> New agent
          </Button>
        )
      }
    >
      <Requires scope="read" to="see the agents">
        <AgentList />
      </Requires>
      {isCreating && (
        <Dialog title="New agent" onClose={() => setCreating(false)}>
          <NewAgentForm />
        </Dialog>
      )}
    </Page>
  );
}

function AgentList(): ReactElement | null {
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(agentPages);
  const agents = data?.pages.flatMap(({ items }) => items);
  const mayCreate = useMay('write');
  const list = useListKeys<HTMLUListElement>('agent');
  if (agents === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The agents could not be read." retry={() => void refetch()} />
    );
  const damaged = <DamagedNote pages={data?.pages ?? []} />;
  if (agents.length > 0)
    return (
      <>
        {damaged}
        <div className="overflow-hidden rounded-card border border-line bg-surface">
          <ListHead columns={['Agent', 'State', 'Now', 'Inbox', 'Next plan']} grid={GRID} />
          <ul ref={list} aria-label="Agents">
            {agents.map((agent) => (
              <AgentRow key={agent.id} agent={agent} />
            ))}
          </ul>
        </div>
        {hasNextPage && (
          <div>
            <Button onClick={() => void fetchNextPage()}>Show more agents</Button>
          </div>
        )}
      </>
    );
  if (data?.pages.some((page) => page.damaged !== undefined)) return damaged;
  return (
    <EmptyState title="No agent yet.">
      <p>
        An agent reads what arrives in its inbox, calls its tools and answers in its spaces. This one is an example:
      </p>
      {mayCreate ? (
        <div className="w-full rounded-card border border-line bg-surface p-4 text-text">
          <NewAgentForm example={EXAMPLE} />
        </div>
      ) : (
        <p>To create one, you need the scope “write”.</p>
      )}
    </EmptyState>
  );
}

const EXAMPLE = {
  name: 'Concierge',
  instructions:
    'You are the concierge of a small travel desk. Answer in one or two sentences. If you do not know something, say so.',
};

const GRID = 'gap-x-4 wide:grid-cols-[minmax(0,3fr)_6rem_minmax(0,1.2fr)_minmax(0,1.2fr)_minmax(0,1fr)]';

function AgentRow({ agent }: { agent: Agent }): ReactElement {
  return (
    <li
      className={`grid grid-cols-[1fr_auto] items-center gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0 wide:min-h-9 wide:*:last:text-right ${GRID}`}
    >
      <div className="grid min-w-0 grid-cols-[auto_1fr] items-center gap-x-3">
        <span className="row-span-2">
          <Avatar name={agent.name} kind="agent" />
        </span>
        <Link to="/agents/$id" params={{ id: agent.id }} className="block truncate font-medium hover:underline">
          <bdi>{withVisibleControls(agent.name)}</bdi>
        </Link>
        {agent.config.description !== undefined && (
          <p className="truncate text-xs text-quiet">{withVisibleControls(agent.config.description)}</p>
        )}
      </div>
      <StatusMark status={agent.status} />
      <Running agent={agent} />
      <InboxCounts agent={agent} />
      <NextPlan agent={agent} />
    </li>
  );
}

function Running({ agent: { running } }: { agent: Agent }): ReactElement {
  const now = useNow();
  if (running === undefined) return <span className="hidden text-sm text-quiet wide:inline">idle</span>;
  return (
    <Link to="/runs/$id" params={{ id: running.runId }} className="text-sm link">
      running for {duration(Math.max(0, now - running.since))}
    </Link>
  );
}

function InboxCounts({ agent: { id, inbox } }: { agent: Agent }): ReactElement {
  const { pending, dead, withheld } = inbox;
  return (
    <Link
      to="/agents/$id"
      params={{ id }}
      search={{ tab: 'inbox' }}
      className="text-sm text-quiet hover:text-text hover:underline"
    >
      <span className="wide:sr-only">inbox </span>
      {pending.toLocaleString()}
      {dead > 0 && <span className="text-bad">, dead {dead.toLocaleString()}</span>}
      {withheld > 0 && <span className="text-wait">, withheld {withheld.toLocaleString()}</span>}
    </Link>
  );
}

function NextPlan({ agent: { id, nextPlanAt } }: { agent: Agent }): ReactElement {
  if (nextPlanAt === undefined) return <span className="hidden text-sm text-quiet wide:inline">–</span>;
  return (
    <Link
      to="/agents/$id"
      params={{ id }}
      search={{ tab: 'plans' }}
      className="text-sm text-quiet hover:text-text hover:underline"
    >
      <span className="wide:sr-only">next </span>
      <Time at={nextPlanAt} />
    </Link>
  );
}
