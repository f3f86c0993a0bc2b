import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** Spaces to choose from. */
export const spaceNames = queryOptions({
  queryKey: ['spaces', 'names'],
  queryFn: async ({ signal }) => (await client.spaces.list({ limit: 100 }, { signal })).items,
  staleTime: 10_000,
});
