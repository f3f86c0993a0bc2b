import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

/** The spaces of whoever is signed in. */
export const spaceList = (entityId: string | undefined) =>
  queryOptions({
    queryKey: ['spaces', entityId],
    queryFn: async ({ signal }) => (await client.spaces.list({ entityId, limit: 100 }, { signal })).items,
    refetchInterval: EVERY_MS,
  });
