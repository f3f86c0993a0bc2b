import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

/** The spaces of whoever is signed in, for an operator all of them, with what is new in them. */
export const spaceList = queryOptions({
  queryKey: ['spaces', 'list'],
  queryFn: async ({ signal }) => (await client.spaces.list({ limit: 100 }, { signal })).items,
  refetchInterval: EVERY_MS,
});

export const spaceMembers = (spaceId: string) =>
  queryOptions({
    queryKey: ['spaces', 'members', spaceId],
    queryFn: async ({ signal }) => (await client.spaces.members(spaceId, { limit: 200 }, { signal })).items,
    staleTime: 60_000,
  });

export const spaceById = (id: string) =>
  queryOptions({
    queryKey: ['spaces', 'one', id],
    queryFn: ({ signal }) => client.spaces.get(id, { signal }),
    staleTime: 60_000,
  });
