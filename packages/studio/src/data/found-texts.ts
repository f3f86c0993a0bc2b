import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { client } from './client.ts';
import type { TextSearch } from './search.ts';

/** Messages, and inputs, outputs and errors of runs, newest first. */
export const foundTexts = ({ q = '', kind }: TextSearch) =>
  infiniteQueryOptions({
    queryKey: ['search', q, kind],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.search(
        { q, ...(kind === undefined ? {} : { kind }), ...(pageParam === undefined ? {} : { cursor: pageParam }) },
        { signal },
      ),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    enabled: q !== '',
  });
