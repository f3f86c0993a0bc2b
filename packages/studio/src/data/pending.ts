import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

/** How many calls wait for whoever is signed in. */
export const pendingCount = queryOptions({
  queryKey: ['pending', 'count'],
  queryFn: async ({ signal }) =>
    (await client.pending.list({ status: 'pending', limit: 100 }, { signal })).items.length,
  refetchInterval: EVERY_MS,
});
