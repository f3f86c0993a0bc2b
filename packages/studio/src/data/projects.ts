import { queryOptions } from '@tanstack/react-query';
import { everywhere } from './client.ts';

/** The projects that the user sees, whichever is chosen. */
export const projectList = queryOptions({
  queryKey: ['projects', 'list'],
  queryFn: async ({ signal }) => (await everywhere.projects.list({ limit: 100 }, { signal })).items,
  staleTime: 60_000,
});
