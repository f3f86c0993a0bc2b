import { type UsedSpace, useSpace } from '@lastcall/client/react';
import { useQueryClient } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { type ReactElement, useEffect, useState } from 'react';
import { client } from '../../data/client.ts';
import { rememberSpace } from '../../data/last-space.ts';
import { CardPlaceProvider } from '../../parts/cards/card-place.tsx';
import { useReportConnection } from '../../parts/session/connection.tsx';
import { useSession } from '../../parts/session/session.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Page, useTitle } from '../../parts/ui/page.tsx';
import { Activity } from './activity.tsx';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { EmptySpace } from './empty-space.tsx';
import { MembersPanel } from './members-panel.tsx';
import { MessageList } from './message-list.tsx';
import { SpaceHeader } from './space-header.tsx';
import { useHeard } from './use-heard.ts';
import { useNewsOfCards } from './use-news-of-cards.ts';

export function SpacePage(): ReactElement {
  const { id } = useParams({ from: '/spaces/$id' });
  // Another space is another page: drafts, scroll positions and cards must not carry over.
  return <OpenSpace key={id} id={id} />;
}

function OpenSpace({ id }: { id: string }): ReactElement {
  const { at } = useSearch({ from: '/spaces/$id' });
  const used = useSpace(id);
  const { space, members, items, error } = used;
  const [hasMembers, showMembers] = useState(false);
  const heard = useHeard(used);
  useReportConnection(used.connection);
  useTitle(space?.name ?? 'Space');
  useNewsOfCards(items);
  useSeen(used);
  useEffect(() => rememberSpace(error === undefined ? id : undefined), [id, error]);
  if (space === undefined) return error === undefined ? <Loading /> : <NotOpened error={error} />;
  return (
    <CardPlaceProvider value={{ members }}>
      <div className="flex h-full min-h-0 flex-col">
        <SpaceHeader
          space={space}
          activity={<Activity used={used} />}
          members={members}
          hasMembers={hasMembers}
          onMembers={() => showMembers(!hasMembers)}
        />
        <div className="relative flex min-h-0 flex-1">
          <div className="flex min-w-0 flex-1 flex-col">
            {items.length === 0 ? (
              <EmptySpace space={space} members={members} onSay={heard.say} />
            ) : (
              <MessageList used={used} at={at} heardBy={heard.heardBy} />
            )}
            <Announcer items={items} members={members} />
            <Composer used={used} onSay={heard.say} />
          </div>
          {hasMembers && <MembersPanel used={used} onClose={() => showMembers(false)} />}
        </div>
      </div>
    </CardPlaceProvider>
  );
}

function Loading(): ReactElement {
  return (
    <p role="status" className="p-4 text-quiet">
      Opening the space …
    </p>
  );
}

function NotOpened({ error }: { error: Error }): ReactElement {
  return (
    <Page title="Space">
      <ErrorNote error={error} title="The space cannot be opened." retry={() => location.reload()} />
    </Page>
  );
}

/** A message that is only scrolled by has not been read. */
const READ_MS = 1_000;

/** Reports messages as read once they have been on the screen for a while. */
function useSeen({ space, members, items }: UsedSpace): void {
  const queries = useQueryClient();
  const { entity } = useSession().session;
  const spaceId = space?.id ?? '';
  const isMember = members.some(({ entityId }) => entityId === entity?.id);
  const seq = items.findLast(({ message }) => message !== undefined)?.message?.seq ?? 0;
  useEffect(() => {
    if (!isMember || seq === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const report = (): void => {
      document.removeEventListener('visibilitychange', wait);
      client.spaces
        .seen(spaceId, { seq })
        .then(() => queries.invalidateQueries({ queryKey: ['spaces', 'list'] }))
        // The next message reports it again.
        .catch(() => {});
    };
    // What arrived while the page was hidden has been read once it is shown again.
    const wait = (): void => {
      clearTimeout(timer);
      if (!document.hidden) timer = setTimeout(report, READ_MS);
    };
    document.addEventListener('visibilitychange', wait);
    wait();
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', wait);
    };
  }, [queries, spaceId, isMember, seq]);
}
