import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** An address works for ten minutes. It is asked for again before that, so that an image that scrolls into view still loads. */
const FRESH_MS = 8 * 60_000;

export const artifactAddress = (id: string) =>
  queryOptions({
    queryKey: ['artifacts', 'address', id],
    queryFn: async ({ signal }) => (await client.artifacts.address(id, { signal })).url,
    staleTime: FRESH_MS,
    gcTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  });
