import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

/** Who is at work, what failed, and the figures of the last days. */
export const home = queryOptions({
  queryKey: ['home'],
  queryFn: ({ signal }) => client.home.get({ signal }),
  refetchInterval: EVERY_MS,
});
