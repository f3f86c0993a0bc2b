import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** The whole registry: a page at a time, because agents and pages choose from all of it. */
export const toolList = queryOptions({
  queryKey: ['tools'],
  queryFn: async ({ signal }) => {
    const first = await client.tools.list({ limit: 100 }, { signal });
    const items = [...first.items];
    for (let next = first.next; next !== undefined && items.length < MAX_TOOLS; ) {
      const page = await client.tools.list({ limit: 100, cursor: next }, { signal });
      items.push(...page.items);
      next = page.next;
    }
    return items;
  },
  staleTime: 5_000,
});

/** More than this nobody reads in a list. */
const MAX_TOOLS = 1_000;

export const toolById = (id: string) =>
  queryOptions({ queryKey: ['tools', id], queryFn: ({ signal }) => client.tools.get(id, { signal }) });
