import { type Agent, ClientError } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { agentById } from '../../data/agents.ts';
import { useIsMachine } from '../../data/definitions.ts';
import { StatusMark } from '../../parts/agent/status-mark.tsx';
import { NotAllowed } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { Avatar } from '../../parts/ui/avatar.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { Tabs, tabClass } from '../../parts/ui/tabs.tsx';
import { AgentActions } from './agent-actions.tsx';
import { ConfigTab } from './config/config-tab.tsx';
import { FilesTab } from './files-tab.tsx';
import { GrantsTab } from './grants-tab.tsx';
import { InboxTab } from './inbox-tab.tsx';
import { MachineTab } from './machine/machine-tab.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { PlansTab } from './plans-tab.tsx';
import { RunsTab } from './runs-tab.tsx';
import { SessionTab } from './session-tab.tsx';
import { TranscriptTab } from './transcript-tab.tsx';
import { WorkbenchTab } from './workbench/workbench-tab.tsx';

const route = getRouteApi('/agents/$id');

export function AgentPage(): ReactElement {
  const { id } = route.useParams();
  if (useMay('read')) return <LoadedAgent key={id} id={id} />;
  return (
    <Page title="Agent">
      <NotAllowed scope="read" to="see the agents" />
    </Page>
  );
}

function LoadedAgent({ id }: { id: string }): ReactElement {
  const { data: agent, error, refetch } = useQuery(agentById(id));
  if (agent !== undefined) return <AgentTabs agent={agent} isDeleted={isNotFound(error)} />;
  return (
    <Page title="Agent">
      {error !== null && <ErrorNote error={error} title="The agent could not be read." retry={() => void refetch()} />}
    </Page>
  );
}

function isNotFound(error: unknown): boolean {
  return error instanceof ClientError && error.status === 404;
}

const TABS = [
  { tab: 'overview', word: 'Overview', show: OverviewTab },
  { tab: 'workbench', word: 'Workbench', show: WorkbenchTab },
  { tab: 'config', word: 'Configuration', show: ConfigTab },
  { tab: 'inbox', word: 'Inbox', show: InboxTab },
  { tab: 'memory', word: 'Memory', show: TranscriptTab },
  { tab: 'session', word: 'Session', show: SessionTab },
  { tab: 'machine', word: 'Machine', show: MachineTab },
  { tab: 'files', word: 'Files', show: FilesTab },
  { tab: 'plans', word: 'Plans', show: PlansTab },
  { tab: 'grants', word: 'Grants', show: GrantsTab },
  { tab: 'runs', word: 'Runs', show: RunsTab },
] as const;

/** `isDeleted`: another user deleted it while the page was open. What was typed stays, to be copied. */
function AgentTabs({ agent, isDeleted }: { agent: Agent; isDeleted: boolean }): ReactElement {
  const { tab: wanted } = route.useSearch();
  const { tab: current, show: Shown } = TABS.find(({ tab }) => tab === wanted) ?? TABS[0];
  const hidden = useHiddenTabs(agent);
  const attention = agent.inbox.dead + agent.inbox.withheld;
  return (
    <Page
      title={agent.name}
      isFilled={current === 'workbench'}
      mark={<Avatar name={agent.name} kind="agent" size="large" />}
      aside={
        !isDeleted && (
          <>
            <StatusMark status={agent.status} />
            <AgentActions agent={agent} />
          </>
        )
      }
      below={
        <>
          {isDeleted && <Deleted />}
          <Tabs label="Parts of the agent">
            {TABS.filter(({ tab }) => tab === current || !hidden.has(tab)).map(({ tab, word }) => (
              <Link
                key={tab}
                to="/agents/$id"
                params={{ id: agent.id }}
                search={tab === 'overview' ? {} : { tab }}
                className={tabClass}
                activeOptions={{ exact: true }}
                aria-current={tab === current ? 'page' : undefined}
              >
                {word}
                {tab === 'inbox' && attention > 0 && <span className="ml-1 text-bad">{attention}</span>}
              </Link>
            ))}
          </Tabs>
        </>
      }
    >
      <Shown agent={agent} />
    </Page>
  );
}

function Deleted(): ReactElement {
  return (
    <p role="alert" className="rounded bg-bad-soft p-3">
      This agent was deleted. The page shows it as it was, and nothing can be saved.
    </p>
  );
}

/** Tabs that would be refused, or that this agent does not have. A link to one still opens it. */
function useHiddenTabs(agent: Agent): ReadonlySet<string> {
  const mayReadSession = useMay('admin');
  const mayTry = useMay('write');
  const isMachine = useIsMachine(agent);
  return new Set([
    ...(mayReadSession ? [] : ['session']),
    ...(isMachine ? [] : ['machine']),
    ...(mayTry && !isMachine ? [] : ['workbench']),
  ]);
}
