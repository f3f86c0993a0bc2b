import type { EvaluationCase } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { deleteCase, evaluationCases } from '../../data/evaluations.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';

/** The cases that the gateway keeps: what was asked, what is expected, and the run with the recorded outcomes. */
export function CaseList({ evaluationId }: { evaluationId: string }): ReactElement | null {
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(evaluationCases(evaluationId));
  const cases = data?.pages.flatMap(({ items }) => items) ?? [];
  if (error !== null && data === undefined)
    return <ErrorNote error={error} title="The stored cases could not be read." retry={() => void refetch()} />;
  if (cases.length === 0) return null;
  return (
    <Section title="Stored cases">
      <ul aria-label="Stored cases" className="flex flex-col">
        {cases.map((one) => (
          <CaseRow key={one.id} evaluationId={evaluationId} stored={one} />
        ))}
      </ul>
      {hasNextPage && (
        <div>
          <Button onClick={() => void fetchNextPage()}>Show more cases</Button>
        </div>
      )}
    </Section>
  );
}

function CaseRow({ evaluationId, stored }: { evaluationId: string; stored: EvaluationCase }): ReactElement {
  const mayWrite = useMay('write');
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>();
  const remove = async (): Promise<void> => {
    try {
      await deleteCase(evaluationId, stored.id);
      await queries.invalidateQueries({ queryKey: ['evaluations'] });
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <li className="flex flex-col gap-1 border-t border-line py-2 first:border-t-0">
      <div className="flex flex-wrap items-center gap-x-3">
        <Link
          to="/runs/$id"
          params={{ id: stored.runId }}
          search={{}}
          className="mr-auto min-w-0 truncate font-medium link"
        >
          <bdi>{withVisibleControls(stored.name)}</bdi>
        </Link>
        {mayWrite && (
          <Button kind="ghost" onClick={() => void remove()}>
            Remove<span className="sr-only"> {withVisibleControls(stored.name)}</span>
          </Button>
        )}
      </div>
      <p dir="auto" className="line-clamp-3 text-sm whitespace-pre-wrap">
        <span className="text-quiet">Expected: </span>
        {withVisibleControls(stored.expected)}
      </p>
      {error !== undefined && <ErrorNote error={error} title="The case was not removed." />}
    </li>
  );
}
