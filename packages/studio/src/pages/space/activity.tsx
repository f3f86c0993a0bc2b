import { type UsedSpace, withVisibleControls } from '@lastcall/client/react';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { client } from '../../data/client.ts';
import { useMay } from '../../parts/session/session.tsx';
import { nameOf } from './name-of.ts';

/** The agents at work, with links to their runs. Its space is reserved, so that the layout does not jump. */
export function Activity({ used }: { used: Pick<UsedSpace, 'active' | 'activeRuns' | 'members'> }): ReactElement {
  const { active, activeRuns, members } = used;
  return (
    <p role="status" className="flex min-h-6 min-w-0 flex-wrap items-center gap-x-3 text-sm text-quiet">
      {active.map((entityId) => (
        <span key={entityId} className="appear inline-flex min-w-0 items-center gap-1.5">
          <span aria-hidden className="size-2 shrink-0 rounded-full bg-accent motion-safe:animate-pulse" />
          <span className="truncate">
            <bdi>{withVisibleControls(nameOf(members, entityId))}</bdi> is at work
          </span>
          <RunOf runId={activeRuns[entityId]} />
          <Stop runId={activeRuns[entityId]} name={nameOf(members, entityId)} />
        </span>
      ))}
    </p>
  );
}

/** Cancels the run, for those who may. */
function Stop({ runId, name }: { runId: string | undefined; name: string }): ReactElement | null {
  const mayCancel = useMay('write');
  const { mutate, isPending, isSuccess, error } = useMutation({ mutationFn: (id: string) => client.runs.cancel(id) });
  if (runId === undefined || !mayCancel) return null;
  return (
    <>
      <button
        type="button"
        disabled={isPending || isSuccess}
        onClick={() => mutate(runId)}
        className="inline-flex min-h-6 items-center link"
      >
        {isSuccess ? 'stopping' : 'Stop'}
        <span className="sr-only"> {withVisibleControls(name)}</span>
      </button>
      {error !== null && <span className="text-bad">It could not be stopped: {error.message}</span>}
    </>
  );
}

/** Only users who may read runs see the link. */
export function RunOf({ runId }: { runId: string | undefined }): ReactElement | null {
  const mayRead = useMay('read');
  if (runId === undefined || !mayRead) return null;
  return (
    <Link to="/runs/$id" params={{ id: runId }} className="inline-flex min-h-6 items-center link">
      run
    </Link>
  );
}
