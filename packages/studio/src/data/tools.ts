import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { everyPage } from './every-page.ts';

/** The whole registry: agents and pages choose from all of it. */
export const toolList = queryOptions({
  queryKey: ['tools'],
  queryFn: ({ signal }) => everyPage((page) => client.tools.list(page, { signal })),
  staleTime: 5_000,
});

export const toolById = (id: string) =>
  queryOptions({ queryKey: ['tools', id], queryFn: ({ signal }) => client.tools.get(id, { signal }) });
