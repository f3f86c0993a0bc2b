import type { Run } from '@lastcall/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { allRuns, newestRuns } from '../../data/runs.ts';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import { RunName, RunStatus, RunTrigger } from '../../parts/run/run-summary.tsx';
import { TrialMark } from '../../parts/run/trial-mark.tsx';
import { tokensInWords } from '../../parts/run/usage-words.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { DamagedNote } from '../../parts/text/damaged-note.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { ListHead } from '../../parts/ui/list-head.tsx';
import { OUTCOMES } from '../../parts/ui/outcome.tsx';
import { headerClass, headingClass, useTitle } from '../../parts/ui/page.tsx';
import { duration, Time, useNow } from '../../parts/ui/time.tsx';
import { mergeRuns } from './merge-runs.ts';
import { CALL_STATUSES, toRunsFilter } from './runs-filter.ts';
import { RunsFilters } from './runs-filters.tsx';

/** What the agents did, newest first: what woke each run, how its calls ended, why it stopped. */
export function RunsPage(): ReactElement {
  useTitle('Runs');
  const scroller = useRef<HTMLDivElement>(null);
  const search = useSearch({ from: '/runs' });
  const mayRead = useMay('read');
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className={headerClass}>
        <div className="column flex flex-col gap-3">
          <h1 className={headingClass}>Runs</h1>
          {mayRead && <RunsFilters />}
        </div>
      </header>
      <div
        ref={scroller}
        className="min-h-0 flex-1 overflow-y-auto px-4 py-4 wide:[scrollbar-gutter:stable] wide:px-6 wide:py-6"
      >
        <Requires scope="read" to="see the runs">
          <RunList key={JSON.stringify(search)} scroller={scroller} />
        </Requires>
      </div>
    </div>
  );
}

function RunList({ scroller }: { scroller: React.RefObject<HTMLDivElement | null> }): ReactElement {
  const search = useSearch({ from: '/runs' });
  const [filter] = useState(() => toRunsFilter(search, Date.now()));
  const all = useInfiniteQuery(allRuns(filter));
  const newest = useQuery(newestRuns(filter));
  const isScrolled = useIsScrolled(scroller);
  const shownUntil = useRef<string>(undefined);
  const loaded = useMemo(() => all.data?.pages.flatMap(({ items }) => items) ?? [], [all.data]);
  const { runs, held } = mergeRuns(loaded, newest.data?.items ?? [], {
    isHeld: isScrolled,
    shownUntil: shownUntil.current,
  });
  if (!isScrolled) shownUntil.current = runs[0]?.id;
  const cursor = useRunCursor(runs);
  if (all.error !== null)
    return (
      <div className="column">
        <ErrorNote error={all.error} title="The runs could not be read." retry={() => void all.refetch()} />
      </div>
    );
  const pages = all.data?.pages ?? [];
  const isDamaged = pages.some(({ damaged }) => damaged !== undefined);
  if (all.data !== undefined && runs.length === 0 && !isDamaged)
    return <NoRuns isFiltered={Object.values(search).some((value) => value !== undefined)} />;
  return (
    <>
      {held > 0 && (
        <p className="sticky top-2 z-10 flex justify-center">
          <Button kind="primary" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
            {held} new
          </Button>
        </p>
      )}
      {isDamaged && (
        <div className="column pb-3">
          <DamagedNote pages={pages} />
        </div>
      )}
      <div className="column overflow-hidden rounded-card border border-line bg-surface">
        <ListHead columns={['What woke the agent', 'Its calls', 'How it stands', 'Started, took']} grid={GRID} />
        <ol aria-label="Runs" className="flex flex-col">
          {runs.map((run) => (
            <RunRow key={run.id} run={run} hasCursor={cursor === run.id} />
          ))}
        </ol>
      </div>
      {all.hasNextPage && (
        <p className="flex justify-center pt-4">
          <Button disabled={all.isFetchingNextPage} onClick={() => void all.fetchNextPage()}>
            {all.isFetchingNextPage ? 'Loading older runs' : 'Show older runs'}
          </Button>
        </p>
      )}
    </>
  );
}

const GRID = 'gap-x-4 wide:grid-cols-[minmax(0,6fr)_minmax(0,3.5fr)_minmax(0,3.5fr)_8.5rem]';

function RunRow({ run, hasCursor }: { run: Run; hasCursor: boolean }): ReactElement {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (hasCursor) link.current?.focus();
  }, [hasCursor]);
  return (
    <li className="appear border-b border-line last:border-b-0">
      <Link
        ref={link}
        to="/runs/$id"
        params={{ id: run.id }}
        search={{}}
        className={`grid min-h-9 grid-cols-[minmax(0,1fr)_auto] items-center gap-y-0.5 px-4 py-2 -outline-offset-2 hover:bg-raised ${GRID}`}
      >
        <span className="col-start-1 row-start-1 flex min-w-0 flex-col wide:col-auto wide:row-auto">
          <RunTrigger run={run} />
          <span className="truncate text-xs text-quiet">
            <RunName run={run} />
          </span>
        </span>
        <span className="col-span-full row-start-2 text-sm wide:col-auto wide:row-auto">
          <OutcomeStrip counts={run.counts} />
        </span>
        <span className="col-span-full row-start-3 flex min-w-0 items-center gap-1.5 text-sm wide:col-auto wide:row-auto">
          <RunStatus run={run} />
        </span>
        <span className="col-start-2 row-start-1 flex flex-col text-right text-xs whitespace-nowrap text-quiet tabular-nums wide:col-auto wide:row-auto">
          <Time at={run.createdAt} />
          <span>
            {run.endedAt === undefined ? <Lasting since={run.createdAt} /> : duration(run.endedAt - run.createdAt)}
            {run.usage !== undefined && `, ${tokensInWords(run.usage)} tok`}
          </span>
        </span>
      </Link>
      <TrialMark run={run} className="-mt-1 px-4 pb-2" />
    </li>
  );
}

function Lasting({ since }: { since: number }): ReactElement {
  return <>{duration(Math.max(0, useNow() - since))} so far</>;
}

function NoRuns({ isFiltered }: { isFiltered: boolean }): ReactElement {
  if (isFiltered)
    return (
      <div className="column">
        <EmptyState title="No run matches.">
          <p>
            Choose less, or{' '}
            <Link to="/runs" search={{}} className="link">
              show all runs
            </Link>
            .
          </p>
        </EmptyState>
      </div>
    );
  return (
    <div className="column">
      <EmptyState title="No runs yet.">
        <p>
          A message in a space, an answer to a call, a plan that is due, an event of a service: each wakes an agent, and
          what it does then is one run.
        </p>
        <p>
          <Link to="/spaces" className="link">
            Send a message in a space
          </Link>
          , and its run appears here.
        </p>
      </EmptyState>
    </div>
  );
}

/** True while the list is not scrolled to its top. */
function useIsScrolled(scroller: React.RefObject<HTMLDivElement | null>): boolean {
  const [isScrolled, setScrolled] = useState(false);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = (): void => setScrolled(element.scrollTop > 4);
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [scroller]);
  return isScrolled;
}

/** `j` and `k` move from run to run. Enter opens it, like any link. */
function useRunCursor(runs: readonly Run[]): string | undefined {
  const [id, setId] = useState<string>();
  const move = (by: 1 | -1): void => {
    const at = runs.findIndex((run) => run.id === id);
    setId(runs[at === -1 ? 0 : Math.min(runs.length - 1, Math.max(0, at + by))]?.id);
  };
  useKeys({
    j: { label: 'The next run', run: () => move(1) },
    k: { label: 'The run before', run: () => move(-1) },
  });
  return id;
}

/** How the calls of a run ended: an icon, a number and a word for each outcome. */
function OutcomeStrip({ counts }: { counts: Run['counts'] }): ReactElement {
  const parts = CALL_STATUSES.map((name) => ({ name, count: counts[name] })).filter(({ count }) => count > 0);
  if (parts.length === 0) return <span className="text-quiet">no calls</span>;
  return (
    <ul className="flex flex-wrap gap-x-3">
      {parts.map(({ name, count }) => {
        const { word, icon: Icon, colour } = OUTCOMES[name];
        return (
          <li key={name} className={`inline-flex items-center gap-1 whitespace-nowrap ${colour}`}>
            <Icon size={16} aria-hidden className="shrink-0" />
            <span className="tabular-nums">{count.toLocaleString()}</span> {word}
          </li>
        );
      })}
    </ul>
  );
}
