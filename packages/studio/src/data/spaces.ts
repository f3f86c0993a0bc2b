import { everyItem } from '@lastcall/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';
import { everyPage } from './every-page.ts';

/** The spaces of the signed-in user, or all of them for an operator, with their unread counts. */
export const spaceList = queryOptions({
  queryKey: ['spaces', 'list'],
  queryFn: ({ signal }) => everyPage((page) => client.spaces.list(page, { signal })),
  // A long list takes several requests.
  refetchInterval: ({ state: { data = [] } }) => (data.length > 200 ? 6 * EVERY_MS : EVERY_MS),
});

/** The spaces that are open, or those that are archived, a page at a time. It is polled. */
export const spacePages = (isArchived: boolean) =>
  infiniteQueryOptions({
    queryKey: ['spaces', isArchived ? 'archived' : 'list', 'pages'],
    queryFn: ({ pageParam, signal }) =>
      client.spaces.list(
        {
          limit: 100,
          ...(isArchived ? { archived: 'only' as const } : {}),
          ...(pageParam === '' ? {} : { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: EVERY_MS,
  });

export const spaceMembers = (spaceId: string) =>
  queryOptions({
    queryKey: ['spaces', 'members', spaceId],
    queryFn: ({ signal }) => everyItem((page) => client.spaces.members(spaceId, page, { signal })),
    staleTime: 60_000,
  });

export const spaceById = (id: string) =>
  queryOptions({
    queryKey: ['spaces', 'one', id],
    queryFn: ({ signal }) => client.spaces.get(id, { signal }),
    staleTime: 60_000,
  });
