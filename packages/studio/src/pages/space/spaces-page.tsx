import type { Space } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { spacePages } from '../../data/spaces.ts';
import { Avatar } from '../../parts/ui/avatar.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { ListHead } from '../../parts/ui/list-head.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { Tabs, tabClass } from '../../parts/ui/tabs.tsx';
import { NewSpace } from './new-space.tsx';

export function SpacesPage(): ReactElement {
  const { show } = useSearch({ from: '/spaces' });
  const isArchived = show === 'archived';
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(spacePages(isArchived));
  const spaces = data?.pages.flatMap(({ items }) => items);
  return (
    <Page title="Spaces" aside={<NewSpace />} below={<SpaceTabs />}>
      {error !== null && <ErrorNote error={error} title="The spaces were not loaded." retry={() => void refetch()} />}
      {spaces?.length === 0 && (isArchived ? <NoArchived /> : <NoSpaces />)}
      {spaces !== undefined && spaces.length > 0 && (
        <div className="overflow-hidden rounded-card border border-line bg-surface">
          <ListHead columns={['Space', 'News']} grid="grid-cols-[1fr_auto]" />
          <ul className="flex flex-col">
            {spaces.map((space) => (
              <SpaceRow key={space.id} space={space} />
            ))}
          </ul>
        </div>
      )}
      {hasNextPage && (
        <div>
          <Button onClick={() => void fetchNextPage()}>Show more spaces</Button>
        </div>
      )}
    </Page>
  );
}

function SpaceTabs(): ReactElement {
  const exact = { exact: true, includeSearch: true } as const;
  return (
    <Tabs label="Which spaces">
      <Link to="/spaces" search={{}} activeOptions={exact} className={tabClass}>
        Open
      </Link>
      <Link to="/spaces" search={{ show: 'archived' }} activeOptions={exact} className={tabClass}>
        Archived
      </Link>
    </Tabs>
  );
}

function SpaceRow({ space }: { space: Space }): ReactElement {
  return (
    <li className="border-b border-line last:border-b-0">
      <Link
        to="/spaces/$id"
        params={{ id: space.id }}
        className="flex min-h-12 items-center gap-3 px-4 py-2 hover:bg-raised"
      >
        <Avatar name={space.name} kind="human" />
        <span className="flex min-w-0 flex-1 flex-col">
          <bdi className="truncate font-medium">{withVisibleControls(space.name)}</bdi>
          <bdi className="truncate text-sm text-quiet">{withVisibleControls(space.description)}</bdi>
        </span>
        <News space={space} />
      </Link>
    </li>
  );
}

/** The numbers of waiting calls and unread messages. */
function News({ space: { unread = 0, waiting = 0 } }: { space: Space }): ReactElement {
  return (
    <span className="flex shrink-0 items-center gap-2 text-xs">
      {waiting > 0 && <span className="rounded-full bg-wait-soft px-2 py-0.5 text-wait">{waiting} waiting</span>}
      {unread > 0 && (
        <span className="rounded-full bg-raised px-2 py-0.5 text-text">{unread < 100 ? unread : '99+'} new</span>
      )}
    </span>
  );
}

function NoArchived(): ReactElement {
  return (
    <EmptyState title="No space is archived.">
      <p>
        Archive a space in its menu when it is no longer used. It keeps its messages, takes no new ones, and is listed
        here.
      </p>
    </EmptyState>
  );
}

function NoSpaces(): ReactElement {
  return (
    <EmptyState title="You are in no space yet.">
      <p>
        In a space people and agents talk, and calls that need an answer appear as cards. Make one here, define it in{' '}
        <code>lastcall.config.ts</code>, or create it with <code>POST /api/spaces</code>.
      </p>
    </EmptyState>
  );
}
