import { everyItem } from '@lastcall/client';
import { queryOptions } from '@tanstack/react-query';
import { everywhere } from './client.ts';

/** The projects that the user sees, whichever is chosen. */
export const projectList = queryOptions({
  queryKey: ['projects', 'list'],
  queryFn: ({ signal }) => everyItem((page) => everywhere.projects.list(page, { signal })),
  staleTime: 60_000,
});
