import type { Agent } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { agentRuns } from '../../data/agents.ts';
import { RunStatus } from '../../parts/run/run-summary.tsx';
import { TrialMark } from '../../parts/run/trial-mark.tsx';
import { triggerInWords } from '../../parts/run/trigger-words.ts';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Time } from '../../parts/ui/time.tsx';

/** The last few runs. The page of runs has them all, with filters. */
export function RunsTab({ agent }: { agent: Agent }): ReactElement | null {
  const { data: runs, error, refetch } = useQuery(agentRuns(agent.id));
  if (runs === undefined) return error === null ? null : <ErrorNote error={error} retry={() => void refetch()} />;
  if (runs.length === 0)
    return (
      <EmptyState title="It has not run yet.">
        <p>A run begins when something arrives: write to it in one of its spaces.</p>
      </EmptyState>
    );
  return (
    <>
      <ul aria-label="Runs" className="rounded-card border border-line bg-surface">
        {runs.map((run) => (
          <li
            key={run.id}
            className="flex min-h-9 flex-wrap items-center gap-x-4 border-b border-line px-4 py-1 last:border-b-0"
          >
            <Link to="/runs/$id" params={{ id: run.id }} className="min-w-0 flex-1 basis-48 truncate hover:underline">
              {withVisibleControls(triggerInWords(run))}
            </Link>
            <TrialMark run={run} />
            <span className="flex max-w-full min-w-0 items-center gap-1.5 text-sm">
              <RunStatus run={run} />
            </span>
            <Time at={run.createdAt} />
          </li>
        ))}
      </ul>
      <p>
        <Link to="/runs" search={{ agent: agent.id }} className="link">
          All its runs, with filters
        </Link>
      </p>
    </>
  );
}
