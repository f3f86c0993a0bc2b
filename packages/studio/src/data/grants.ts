import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

/** The grants of an agent, newest first. It is polled: a call or another user may end one. */
export const agentGrants = (agentId: string, status: 'active' | 'ended') =>
  infiniteQueryOptions({
    queryKey: ['grants', agentId, status],
    queryFn: ({ pageParam, signal }) =>
      client.grants.list(
        { agentId, status, limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: EVERY_MS,
  });

export const grantById = (id: string) =>
  queryOptions({ queryKey: ['grants', id], queryFn: ({ signal }) => client.grants.get(id, { signal }) });
