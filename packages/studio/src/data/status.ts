import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** What runs here, and what is misconfigured. */
export const gatewayStatus = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => client.status.get({ signal }),
  staleTime: 60_000,
});
