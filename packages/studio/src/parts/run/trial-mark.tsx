import type { Run } from '@lastcall/client';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';

/** Says in a list that a run only tries something, with a link to where it comes from. It must not be inside another link. */
export function TrialMark({ run, className = '' }: { run: Run; className?: string }): ReactElement | null {
  const { trial } = run;
  if (trial === undefined) return null;
  return (
    <span className={`inline-flex flex-wrap items-center gap-x-1.5 text-xs text-quiet ${className}`}>
      <TrialWord run={run} />
      {trial.runId === undefined ? (
        <Link to="/agents/$id" params={{ id: run.agentId }} search={{ tab: 'workbench', run: run.id }} className="link">
          in the workbench
        </Link>
      ) : (
        <Link to="/runs/$id" params={{ id: trial.runId }} search={{}} className="link">
          {trial.kind === 'fork' ? 'of this run' : 'again of this run'}
        </Link>
      )}
    </span>
  );
}

/** The word alone, for rows that are a link themselves. */
export function TrialWord({ run }: { run: Pick<Run, 'trial'> }): ReactElement | null {
  if (run.trial === undefined) return null;
  return <span className="rounded border border-line px-1 text-xs text-quiet">{run.trial.kind}</span>;
}
