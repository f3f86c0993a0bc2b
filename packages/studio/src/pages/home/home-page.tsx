import type { PendingCall, Run } from '@lastcall/client';
import { questionOf, withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import type { ReactElement, ReactNode } from 'react';
import { home } from '../../data/home.ts';
import { lastSpace } from '../../data/last-space.ts';
import { pendingCalls } from '../../data/pending.ts';
import { agentNames } from '../../data/runs.ts';
import { inWords } from '../../parts/cards/call-shape.ts';
import { TimeLeft } from '../../parts/cards/time-left.tsx';
import { RetryRun } from '../../parts/run/retry-run.tsx';
import { RunName, RunTrigger } from '../../parts/run/run-summary.tsx';
import { StatusMark } from '../../parts/run/status-mark.tsx';
import { statusInWords } from '../../parts/run/stop-sentence.ts';
import { useAnswerer, useMay } from '../../parts/session/session.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Page, Section } from '../../parts/ui/page.tsx';
import { duration, Time, useNow } from '../../parts/ui/time.tsx';
import { DayChart } from './day-chart.tsx';
import { figuresOf } from './figures.ts';

/** Who is at work, what waits for me, what failed and why, and what today is like beside other days. */
export function HomePage(): ReactElement {
  const mayRead = useMay('read');
  const space = lastSpace();
  if (!mayRead)
    return space === undefined ? (
      <Navigate to="/spaces" replace />
    ) : (
      <Navigate to="/spaces/$id" params={{ id: space }} replace />
    );
  return (
    <Page title="Home">
      <Overview />
    </Page>
  );
}

function Overview(): ReactElement | null {
  const { data, error, refetch } = useQuery(home);
  if (data === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The overview could not be read." retry={() => void refetch()} />
    );
  const { atWork, failed, days } = data;
  return (
    <div className="grid items-start gap-4 wide:grid-cols-[minmax(0,1.7fr)_minmax(0,1fr)]">
      <div className="flex min-w-0 flex-col gap-4">
        <WaitingForMe />
        <Section title="Failed" aside={<More to="failed" />}>
          <Entries label="Failed runs" empty="Nothing failed in the last 24 hours, or it was tried again.">
            {failed.map((run) => (
              <FailedEntry key={run.id} run={run} />
            ))}
          </Entries>
        </Section>
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Section title="At work" aside={<More to="running" />}>
          <Entries
            label="Runs at work"
            empty={
              <>
                No agent is at work.{' '}
                <Link to="/spaces" className="link">
                  Write to one
                </Link>
              </>
            }
          >
            {atWork.map((run) => (
              <RunEntry key={run.id} run={run}>
                <Lasting since={run.createdAt} />
              </RunEntry>
            ))}
          </Entries>
        </Section>
        <Section title="Today">
          <div className="grid grid-cols-2 gap-x-4 gap-y-5">
            {figuresOf(days).map((figure) => (
              <DayChart key={figure.title} figure={figure} days={days} />
            ))}
          </div>
        </Section>
      </div>
    </div>
  );
}

function More({ to }: { to: 'failed' | 'running' }): ReactElement {
  return (
    <Link to="/runs" search={{ status: to }} className="text-sm link">
      All {to} runs
    </Link>
  );
}

/** A list, or a sentence if there is nothing. */
function Entries({
  label,
  empty,
  children,
}: {
  label: string;
  empty: ReactNode;
  children: readonly ReactNode[];
}): ReactElement {
  if (children.length === 0) return <p className="text-quiet">{empty}</p>;
  return (
    <ul aria-label={label} className="flex flex-col divide-y divide-line">
      {children}
    </ul>
  );
}

const entryClass = 'flex min-h-9 flex-wrap items-center gap-x-3 py-1 hover:bg-raised';

function RunEntry({ run, children }: { run: Run; children: ReactNode }): ReactElement {
  return (
    <li>
      <Link to="/runs/$id" params={{ id: run.id }} search={{}} className={entryClass}>
        <StatusMark run={run} />
        <span className="flex min-w-0 flex-1 basis-56 flex-col">
          <RunTrigger run={run} />
          <span className="truncate text-xs text-quiet">
            <RunName run={run} />
          </span>
        </span>
        <span className="text-sm text-quiet tabular-nums">{children}</span>
      </Link>
    </li>
  );
}

function FailedEntry({ run }: { run: Run }): ReactElement {
  return (
    <li className="flex flex-col gap-1 py-1">
      <Link to="/runs/$id" params={{ id: run.id }} search={{}} className={entryClass}>
        <StatusMark run={run} />
        <span className="flex min-w-0 flex-1 basis-56 flex-col">
          <RunTrigger run={run} />
          <span className="truncate text-xs text-quiet">
            <RunName run={run} />
          </span>
          <span dir="auto" className="line-clamp-2 text-sm text-bad">
            {withVisibleControls(statusInWords(run).text)}
          </span>
        </span>
        <Time at={run.createdAt} />
      </Link>
      <RetryRun run={run} />
    </li>
  );
}

function Lasting({ since }: { since: number }): ReactElement {
  return <>for {duration(Math.max(0, useNow() - since))}</>;
}

const MOST_SHOWN = 5;

function WaitingForMe(): ReactElement {
  const answerer = useAnswerer();
  const { data: calls = [] } = useQuery(pendingCalls('waiting', answerer));
  const more = calls.length - MOST_SHOWN;
  return (
    <Section
      title={answerer.entityId === undefined ? 'Waiting for people' : 'Waiting for you'}
      aside={
        <Link to="/inbox" className="text-sm link">
          {more > 0 ? `${more} more in the inbox` : 'Inbox'}
        </Link>
      }
    >
      <Entries label="Waiting calls" empty="Nothing waits.">
        {calls.slice(0, MOST_SHOWN).map((call) => (
          <WaitingEntry key={call.callId} call={call} />
        ))}
      </Entries>
    </Section>
  );
}

function WaitingEntry({ call }: { call: PendingCall }): ReactElement {
  const { data: names } = useQuery(agentNames);
  const { question } = questionOf(call.input);
  return (
    <li>
      <Link to="/runs/$id" params={{ id: call.runId }} search={{ call: call.callId }} className={entryClass}>
        <span className="flex min-w-0 flex-1 basis-56 flex-col">
          <span dir="auto" className="truncate font-medium">
            {withVisibleControls(question ?? inWords(call.input))}
          </span>
          <span className="truncate text-xs text-quiet">
            <bdi>{withVisibleControls(call.toolName)}</bdi>,{' '}
            <bdi>{withVisibleControls(names?.get(call.agentId) ?? 'an agent')}</bdi>
          </span>
        </span>
        {call.expiresAt !== undefined && <TimeLeft expiresAt={call.expiresAt} />}
      </Link>
    </li>
  );
}
