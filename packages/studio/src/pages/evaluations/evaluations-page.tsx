import type { ListedEvaluation } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { evaluationPages } from '../../data/evaluations.ts';
import { useListKeys } from '../../parts/keyboard/list-keys.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { ListHead } from '../../parts/ui/list-head.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { HowTo } from './how-to.tsx';
import { intervalInWords, percent } from './score-words.ts';

/** Evaluations with the scores of their newest versions. */
export function EvaluationsPage(): ReactElement {
  return (
    <Page title="Evaluations">
      <Requires scope="read" to="see evaluations">
        <List />
      </Requires>
    </Page>
  );
}

function List(): ReactElement | null {
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(evaluationPages);
  const list = useListKeys<HTMLUListElement>('evaluation');
  const evaluations = data?.pages.flatMap(({ items }) => items);
  if (evaluations === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The evaluations could not be read." retry={() => void refetch()} />
    );
  if (evaluations.length === 0) return <HowTo title="No evaluation yet." />;
  return (
    <>
      <div className="overflow-hidden rounded-card border border-line bg-surface">
        <ListHead columns={['Evaluation', 'Newest scores', 'Stored', 'Sent']} grid={GRID} />
        <ul ref={list} aria-label="Evaluations">
          {evaluations.map((evaluation) => (
            <Row key={evaluation.id} evaluation={evaluation} />
          ))}
        </ul>
      </div>
      {hasNextPage && (
        <div>
          <Button onClick={() => void fetchNextPage()}>Show more evaluations</Button>
        </div>
      )}
    </>
  );
}

const GRID = 'gap-x-4 wide:grid-cols-[minmax(0,2fr)_minmax(0,2fr)_minmax(0,1.2fr)_7rem]';

function Row({ evaluation: { id, name, cases, reports, newest } }: { evaluation: ListedEvaluation }): ReactElement {
  return (
    <li className="border-t border-line first:border-t-0">
      <Link
        to="/evaluations/$id"
        params={{ id }}
        className={`grid min-h-9 items-baseline gap-y-1 px-4 py-2.5 -outline-offset-2 hover:bg-raised ${GRID}`}
      >
        <bdi className="min-w-0 truncate font-medium">{withVisibleControls(name)}</bdi>
        <span className="flex min-w-0 flex-wrap gap-x-4">
          {Object.entries(newest?.scores ?? {}).map(([score, found]) => (
            <span key={score} className="text-sm tabular-nums" title={`95 % interval: ${intervalInWords(found)}`}>
              <bdi className="text-quiet">{withVisibleControls(score)}</bdi> {percent(found.mean)}
            </span>
          ))}
        </span>
        <span className="text-xs text-quiet tabular-nums">
          {cases} stored {cases === 1 ? 'case' : 'cases'}, {reports} {reports === 1 ? 'version' : 'versions'}
        </span>
        <span className="wide:text-right">{newest !== undefined && <Time at={newest.createdAt} />}</span>
      </Link>
    </li>
  );
}
