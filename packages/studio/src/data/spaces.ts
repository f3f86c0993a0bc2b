import type { Space } from '@lastcall/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';
import { everyPage } from './every-page.ts';

/** The spaces of the signed-in user, or all of them for an operator, with their unread counts. */
export const spaceList = queryOptions({
  queryKey: ['spaces', 'list'],
  queryFn: async ({ signal }) => (await client.spaces.list({ limit: 100 }, { signal })).items,
  refetchInterval: EVERY_MS,
});

/** The archived spaces, or the same list of all others. */
export const spacesOf = (isArchived: boolean) =>
  queryOptions({
    ...spaceList,
    ...(isArchived ? { queryKey: ['spaces', 'archived'], queryFn: archivedSpaces } : {}),
  });

async function archivedSpaces({ signal }: { signal: AbortSignal }): Promise<Space[]> {
  return [...(await everyPage((page) => client.spaces.list({ ...page, archived: 'only' }, { signal })))];
}

export const spaceMembers = (spaceId: string) =>
  queryOptions({
    queryKey: ['spaces', 'members', spaceId],
    queryFn: async ({ signal }) => await everyPage((page) => client.spaces.members(spaceId, page, { signal })),
    staleTime: 60_000,
  });

export const spaceById = (id: string) =>
  queryOptions({
    queryKey: ['spaces', 'one', id],
    queryFn: ({ signal }) => client.spaces.get(id, { signal }),
    staleTime: 60_000,
  });
