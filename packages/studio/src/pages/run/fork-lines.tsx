import type { Run } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { forksOf } from '../../data/forks.ts';
import { changesInForkWords } from '../../parts/run/fork-words.ts';
import { Time } from '../../parts/ui/time.tsx';

/** What a run was forked from, and the forks that it has. */
export function ForkLines({ run }: { run: Run }): ReactElement | null {
  const { data: forks = [] } = useQuery(forksOf(run.id));
  if (run.fork === undefined && run.draft === undefined && forks.length === 0) return null;
  return (
    <div className="flex flex-col gap-1 text-sm">
      {run.draft !== undefined && (
        <p>
          A run of a draft, which no space sees.{' '}
          <Link
            to="/agents/$id"
            params={{ id: run.agentId }}
            search={{ tab: 'workbench', run: run.id }}
            className="link"
          >
            Open it in the workbench
          </Link>
        </p>
      )}
      {run.fork !== undefined && <ForkedFromLine run={run} fork={run.fork} />}
      {forks.length > 0 && (
        <details>
          <summary className="min-h-7">
            {forks.length === 1 ? '1 fork' : `${forks.length} forks`},{' '}
            <Link
              to="/runs/$id/compare/$other"
              params={{ id: run.id, other: forks.map(({ runId }) => runId).join(',') }}
              className="link"
            >
              compare {forks.length === 1 ? 'it' : 'them'} with this run
            </Link>
          </summary>
          <ul aria-label="Forks of this run" className="flex flex-col gap-1 py-1">
            {forks.map(({ runId, atStep, changes, createdAt }) => (
              <li key={runId} className="flex flex-wrap gap-x-2">
                <Link to="/runs/$id" params={{ id: runId }} search={{}} className="link">
                  at step {atStep}
                </Link>
                <span>{changesInForkWords(changes)}</span>
                <span className="text-quiet">
                  <Time at={createdAt} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function ForkedFromLine({ run, fork }: { run: Run; fork: NonNullable<Run['fork']> }): ReactElement {
  return (
    <p className="flex flex-wrap gap-x-2">
      <span>
        A fork of{' '}
        <Link to="/runs/$id" params={{ id: fork.runId }} search={{}} className="link">
          this run
        </Link>{' '}
        at step {fork.atStep}, {changesInForkWords(fork.changes)}.
      </span>
      <Link to="/runs/$id/compare/$other" params={{ id: fork.runId, other: run.id }} className="link">
        Compare with the original
      </Link>
    </p>
  );
}
