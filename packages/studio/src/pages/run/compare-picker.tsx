import type { Run } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { newestRuns } from '../../data/runs.ts';
import { RunName, RunStatus, RunTrigger } from '../../parts/run/run-summary.tsx';
import { TrialWord } from '../../parts/run/trial-mark.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Time } from '../../parts/ui/time.tsx';

/** Any run can be compared with this one. Those of the same agent come first, because they have most in common. */
export function ComparePicker({ run }: { run: Run }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Compare with …</Button>
      {isOpen && (
        <Dialog title="Compare with which run?" onClose={() => setOpen(false)}>
          <Choices run={run} />
        </Dialog>
      )}
    </>
  );
}

function Choices({ run }: { run: Run }): ReactElement {
  const [ofAll, setOfAll] = useState(false);
  const { data, error, refetch } = useQuery(newestRuns(ofAll ? {} : { agentId: run.agentId }));
  const others = data?.items.filter(({ id }) => id !== run.id);
  return (
    <div className="flex flex-col gap-3">
      <label className="flex min-h-6 items-center gap-2">
        <input type="checkbox" checked={ofAll} onChange={({ target }) => setOfAll(target.checked)} />
        also runs of other agents
      </label>
      {error !== null && <ErrorNote error={error} title="The runs could not be read." retry={() => void refetch()} />}
      {others?.length === 0 && <p className="text-quiet">There is no other run yet.</p>}
      <ul aria-label="Runs to compare with" className="flex max-h-[60vh] flex-col overflow-y-auto">
        {others?.map((other) => (
          <Choice key={other.id} run={run} other={other} />
        ))}
      </ul>
    </div>
  );
}

/** The older run is on the left, as it is when attempts are compared. */
function Choice({ run, other }: { run: Run; other: Run }): ReactElement {
  const [id, right] = other.id < run.id ? [other.id, run.id] : [run.id, other.id];
  return (
    <li className="border-t border-line first:border-t-0">
      <Link
        to="/runs/$id/compare/$other"
        params={{ id, other: right }}
        className="flex min-h-9 flex-col px-1 py-1.5 -outline-offset-2 hover:bg-raised"
      >
        <span className="flex items-baseline justify-between gap-2">
          <RunTrigger run={other} />
          <span className="shrink-0 text-xs text-quiet">
            <Time at={other.createdAt} />
          </span>
        </span>
        <span className="flex min-w-0 items-center gap-1.5 text-xs text-quiet">
          <span className="truncate">
            <RunName run={other} />:
          </span>
          <TrialWord run={other} />
          <RunStatus run={other} />
        </span>
      </Link>
    </li>
  );
}
