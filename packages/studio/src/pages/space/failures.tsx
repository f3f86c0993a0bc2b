import { type AgentFailure, type UsedSpace, withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { redriveRun, runById } from '../../data/runs.ts';
import { useMay } from '../../parts/session/session.tsx';
import { SafeText } from '../../parts/text/safe-text.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
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
  const mayTry = useMay('write');
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
      {mayRead && <Reason runId={runId} />}
      {mayTry && retryAt === undefined && <TryAgain runId={runId} />}
    </div>
  );
}

function Reason({ runId }: { runId: string }): ReactElement | null {
  const { data } = useQuery(runById(runId));
  if (data?.stop?.reason !== 'error') return null;
  return (
    <p className="max-h-24 overflow-y-auto font-mono text-xs text-quiet">
      <SafeText text={data.stop.error} />
    </p>
  );
}

function TryAgain({ runId }: { runId: string }): ReactElement {
  const { mutate, error, isPending, isSuccess } = useMutation({ mutationFn: () => redriveRun(runId) });
  if (isSuccess) return <p role="status">It was asked to try again.</p>;
  return (
    <>
      {error !== null && <ErrorNote error={error} title="The retry was not started." />}
      <p>
        <Button disabled={isPending} onClick={() => mutate()}>
          {isPending ? 'Asking …' : 'Try again'}
        </Button>
      </p>
    </>
  );
}
