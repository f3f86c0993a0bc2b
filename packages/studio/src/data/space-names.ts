import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { everyPage } from './every-page.ts';

/** Spaces to choose from. */
export const spaceNames = queryOptions({
  queryKey: ['spaces', 'names'],
  queryFn: ({ signal }) => everyPage((page) => client.spaces.list(page, { signal })),
  staleTime: 10_000,
});
