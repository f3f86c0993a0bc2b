import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { foundTexts } from '../../data/found-texts.ts';
import type { TextKind } from '../../data/search.ts';
import { useListKeys } from '../../parts/keyboard/list-keys.ts';
import { Button } from '../../parts/ui/button.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { fieldClass } from '../../parts/ui/field.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { Tabs, tabClass } from '../../parts/ui/tabs.tsx';
import { duration } from '../../parts/ui/time.tsx';
import { FoundText } from './found-text.tsx';

/** Finds messages, and inputs, outputs and errors of runs, by their words. */
export function SearchPage(): ReactElement {
  const { q } = useSearch({ from: '/search' });
  return (
    <Page title="Search" below={<KindTabs />}>
      <SearchField key={q} />
      {q === undefined ? <HowToSearch /> : <Results />}
    </Page>
  );
}

function SearchField(): ReactElement {
  const { q = '', ...rest } = useSearch({ from: '/search' });
  const [text, setText] = useState(q);
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  // Only on the empty page, whose one purpose is the field.
  useEffect(() => {
    if (q === '') field.current?.focus();
  }, [q]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void navigate({ to: '/search', search: { ...rest, ...(text.trim() === '' ? {} : { q: text.trim() }) } });
  };
  return (
    <search>
      <form onSubmit={submit} className="flex gap-2">
        <input
          type="search"
          ref={field}
          aria-label="Words to search for"
          placeholder={'Words, "a phrase" or begin*'}
          maxLength={500}
          value={text}
          onChange={({ target }) => setText(target.value)}
          className={`${fieldClass} min-w-0 flex-1`}
        />
        <Button type="submit" kind="primary">
          Search
        </Button>
      </form>
    </search>
  );
}

const KINDS: readonly (readonly [word: string, kind: TextKind | undefined])[] = [
  ['Everything', undefined],
  ['Messages', 'message'],
  ['Inputs', 'input'],
  ['Outputs', 'output'],
  ['Errors', 'error'],
];

function KindTabs(): ReactElement {
  const { q } = useSearch({ from: '/search' });
  const words = q === undefined ? {} : { q };
  return (
    <Tabs label="Kinds of text">
      {KINDS.map(([word, kind]) => (
        <Link
          key={word}
          to="/search"
          search={kind === undefined ? words : { ...words, kind }}
          activeOptions={{ exact: true, includeSearch: true }}
          className={tabClass}
        >
          {word}
        </Link>
      ))}
    </Tabs>
  );
}

function HowToSearch(): ReactElement {
  return (
    <EmptyState title="All words have to occur.">
      <p>
        Upper case and accents do not matter. Words in quotation marks are found in this order, and begin* finds all
        words that begin like this. Results are the newest first.
      </p>
    </EmptyState>
  );
}

function Results(): ReactElement {
  const found = useInfiniteQuery(foundTexts(useSearch({ from: '/search' })));
  const list = useListKeys<HTMLOListElement>('result');
  const { hasNextPage, isFetching, fetchNextPage } = found;
  const pages = found.data?.pages ?? [];
  const results = pages.flatMap(({ items }) => items);
  // A page without results only says that the search goes on.
  const goesOn = hasNextPage && !isFetching && pages.at(-1)?.items.length === 0;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  if (found.error !== null)
    return <ErrorNote error={found.error} title="The search failed." retry={() => void found.refetch()} />;
  if (found.data !== undefined && results.length === 0 && !hasNextPage)
    return (
      <EmptyState title="Nothing was found.">
        <p>Use fewer words, or only their beginnings: book* finds booking, too.</p>
        <Lag indexedTo={pages[0]?.indexedTo} />
      </EmptyState>
    );
  return (
    <>
      <p role="status" className="text-sm text-quiet">
        {isFetching && results.length === 0 ? 'Searching' : `${results.length}${hasNextPage ? ' or more' : ''} found`}
      </p>
      <ol ref={list} aria-label="Results" className="flex flex-col">
        {results.map((result) => (
          <FoundText
            key={`${result.messageId ?? result.runId} ${result.callId} ${result.kind} ${result.at}`}
            result={result}
          />
        ))}
      </ol>
      <Lag indexedTo={pages[0]?.indexedTo} />
      {hasNextPage && (
        <p className="flex justify-center p-4">
          <Button disabled={isFetching} onClick={() => void fetchNextPage()}>
            {isFetching ? 'Searching' : 'Search older texts'}
          </Button>
        </p>
      )}
    </>
  );
}

/** Behind this much, a text that the person has just seen may be missing. */
const NOTABLE_MS = 15_000;

function Lag({ indexedTo }: { indexedTo: number | undefined }): ReactElement | null {
  const [now] = useState(() => Date.now());
  if (indexedTo === undefined)
    return <p className="text-sm text-quiet">The index is being built: older texts are missing.</p>;
  if (now - indexedTo < NOTABLE_MS) return null;
  return <p className="text-sm text-quiet">Texts of the last {duration(now - indexedTo)} may be missing.</p>;
}
