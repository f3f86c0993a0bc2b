import type { Call } from '@lastcall/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

/** A call that has ended: it never changes again. */
export const callById = (id: string) =>
  queryOptions({
    queryKey: ['calls', id],
    queryFn: ({ signal }) => client.runs.call(id, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Everything that the gateway stores about a call. It is polled while the call waits. */
export function callDetails(callId: string) {
  return queryOptions({
    queryKey: ['calls', callId],
    queryFn: ({ signal }): Promise<Call> => client.runs.call(callId, { signal }),
    refetchInterval: ({ state }) => (state.data?.pending?.status === 'pending' ? EVERY_MS : false),
  });
}
