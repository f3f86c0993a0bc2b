import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** What runs here, and what is set up wrong. */
export const gatewayStatus = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => client.status.get({ signal }),
  staleTime: 60_000,
});
