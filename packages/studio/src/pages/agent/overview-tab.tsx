import type { Agent } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { SafeText } from '../../parts/text/safe-text.tsx';
import { Fact, Facts } from '../../parts/ui/facts.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { duration, Time, useNow } from '../../parts/ui/time.tsx';
import { DeleteAgent } from './agent-actions.tsx';
import { AgentSpaceList } from './agent-space-list.tsx';
import { inboxInWords } from './inbox-words.ts';

export function OverviewTab({ agent }: { agent: Agent }): ReactElement {
  const { config } = agent;
  return (
    <>
      {agent.lastError !== undefined && <LastError agent={agent} />}
      <Section title="Now">
        <Facts>
          <Fact name="State">{STATES[agent.status]}</Fact>
          <Fact name="Running">
            <Running agent={agent} />
          </Fact>
          <Fact name="Inbox">
            <Link to="/agents/$id" params={{ id: agent.id }} search={{ tab: 'inbox' }} className="link">
              {inboxInWords(agent.inbox)}
            </Link>
          </Fact>
          <Fact name="Next plan">{agent.nextPlanAt === undefined ? 'none' : <Time at={agent.nextPlanAt} />}</Fact>
          <Fact name="Spaces">
            <AgentSpaceList agent={agent} />
          </Fact>
        </Facts>
      </Section>
      <Section title="What it is">
        <Facts>
          {config.description !== undefined && (
            <Fact name="Description">
              <SafeText text={config.description} />
            </Fact>
          )}
          {config.definition !== undefined && (
            <Fact name="Definition">
              <code className="font-mono text-xs">{withVisibleControls(config.definition)}</code>
            </Fact>
          )}
          <Fact name="Model">{withVisibleControls([config.model ?? 'the gateway’s model'].flat().join(', '))}</Fact>
          <Fact name="Tools">
            {(config.tools ?? []).length === 0 ? 'none' : <ToolNames tools={config.tools ?? []} />}
          </Fact>
          <Fact name="Configuration">
            <Link to="/agents/$id" params={{ id: agent.id }} search={{ tab: 'config' }} className="link">
              version {agent.configVersion}
            </Link>
            , {agent.source === 'file' ? 'from the configuration file' : 'created over the API'}, changed{' '}
            <Time at={agent.updatedAt} />
          </Fact>
          <Fact name="Id">
            <code className="font-mono text-xs">{agent.id}</code>
          </Fact>
        </Facts>
      </Section>
      <DeleteAgent agent={agent} />
    </>
  );
}

const STATES: Readonly<Record<Agent['status'], string>> = {
  active: 'Active: it handles events as they arrive.',
  paused: 'Paused: events wait until it is resumed.',
  invalid: 'Invalid: it cannot run as it is configured or stored. Events wait until it is fixed and resumed.',
  deleted: 'Deleted.',
};

function LastError({ agent }: { agent: Agent }): ReactElement {
  return (
    <section
      aria-label="Why its last run failed"
      className="flex flex-col gap-1 rounded-card border border-line bg-bad-soft p-4"
    >
      <p className="font-medium">Its last failed run stopped with an error.</p>
      <SafeText text={agent.lastError?.error ?? ''} />
      {agent.status === 'invalid' ? (
        <p className="text-sm text-quiet">Its events wait and are not lost. Fix the cause, then resume it.</p>
      ) : (
        <p className="text-sm text-quiet">
          Events that failed too often are dead: fix the cause, then{' '}
          <Link to="/agents/$id" params={{ id: agent.id }} search={{ tab: 'inbox' }} className="link">
            redrive them
          </Link>
          .
        </p>
      )}
    </section>
  );
}

function Running({ agent: { running } }: { agent: Agent }): ReactElement {
  const now = useNow();
  if (running === undefined) return <>nothing</>;
  return (
    <Link to="/runs/$id" params={{ id: running.runId }} className="link">
      a run, for {duration(Math.max(0, now - running.since))}
    </Link>
  );
}

function ToolNames({ tools }: { tools: readonly (string | { readonly name: string })[] }): ReactElement {
  return (
    <ul className="flex flex-wrap gap-x-3">
      {tools.map((one) => (
        <li key={typeof one === 'string' ? one : one.name} className="font-mono text-xs">
          {typeof one === 'string' ? (
            <Link to="/tools/$id" params={{ id: one }} className="link">
              {withVisibleControls(one)}
            </Link>
          ) : (
            withVisibleControls(one.name)
          )}
        </li>
      ))}
    </ul>
  );
}
