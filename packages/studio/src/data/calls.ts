import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** A call that has ended: it never changes again. */
export const callById = (id: string) =>
  queryOptions({
    queryKey: ['calls', id],
    queryFn: ({ signal }) => client.runs.call(id, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
