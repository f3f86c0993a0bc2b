import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { everyPage } from './every-page.ts';

/** Spaces to choose from. Archived ones are left out. */
export const spaceNames = queryOptions({
  queryKey: ['spaces', 'names'],
  queryFn: ({ signal }) => everyPage((page) => client.spaces.list(page, { signal })),
  staleTime: 10_000,
});

/** The names of all spaces, also of archived ones. */
export const everySpaceName = queryOptions({
  queryKey: ['spaces', 'every-name'],
  queryFn: ({ signal }) => everyPage((page) => client.spaces.list({ ...page, archived: 'include' }, { signal })),
  staleTime: 10_000,
});
