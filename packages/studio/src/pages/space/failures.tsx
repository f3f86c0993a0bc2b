import { type AgentFailure, type UsedSpace, withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { runById } from '../../data/runs.ts';
import { RetryRun } from '../../parts/run/retry-run.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { SafeText } from '../../parts/text/safe-text.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { RunOf } from './activity.tsx';
import { nameOf } from './name-of.ts';

/** The failures of agents that have done nothing since. */
export function Failures({ used: { failures, members } }: { used: UsedSpace }): ReactNode {
  return failures.map((failure) => (
    <Failure key={failure.runId} failure={failure} name={nameOf(members, failure.entityId)} />
  ));
}

/** What every member may read; for operators also the error itself, the run, and a button to try again. */
function Failure({ failure, name }: { failure: AgentFailure; name: string }): ReactElement {
  const { runId, text, at, retryAt } = failure;
  const mayRead = useMay('read');
  const { data } = useQuery({ ...runById(runId), enabled: mayRead });
  return (
    <div role="alert" className="flex flex-col gap-1 rounded bg-bad-soft px-3 py-2 text-sm">
      <p className="flex flex-wrap items-center gap-x-2">
        <span className="font-medium text-bad">
          <bdi>{withVisibleControls(name)}</bdi> failed.
        </span>
        <span className="min-w-0">{withVisibleControls(text)}</span>
        {retryAt !== undefined && (
          <span>
            The next attempt is at <Time at={retryAt} />.
          </span>
        )}
        <Time at={at} />
        <RunOf runId={runId} />
      </p>
      {data?.stop?.reason === 'error' && (
        <p className="max-h-24 overflow-y-auto font-mono text-xs text-quiet">
          <SafeText text={data.stop.error} />
        </p>
      )}
      {data !== undefined && retryAt === undefined && <RetryRun run={data} />}
    </div>
  );
}
