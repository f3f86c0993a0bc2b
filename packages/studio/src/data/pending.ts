import type { PendingCall } from '@lastcall/client';
import { queryOptions } from '@tanstack/react-query';
import type { InboxShow } from '../app/search.ts';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

const STATUS = { waiting: 'pending', answered: 'resolved', expired: 'expired' } as const;

/** Calls that wait or waited for whoever is signed in; for an operator without a person, of everybody. */
export const pendingCalls = (show: InboxShow, entityId: string | undefined) =>
  queryOptions({
    queryKey: ['pending', show, entityId],
    queryFn: async ({ signal }) =>
      (await client.pending.list({ status: STATUS[show], entityId, limit: 100 }, { signal })).items,
    refetchInterval: EVERY_MS,
    select: (calls) => inOrder(show, calls),
  });

/** What waits: least time left first. What is over: the newest first. */
function inOrder(show: InboxShow, calls: readonly PendingCall[]): readonly PendingCall[] {
  if (show !== 'waiting') return calls.toSorted((one, other) => endOf(other) - endOf(one));
  const left = ({ expiresAt = Number.MAX_SAFE_INTEGER }: PendingCall): number => expiresAt;
  return calls.toSorted((one, other) => left(one) - left(other) || one.createdAt - other.createdAt);
}

function endOf({ resolvedAt, expiresAt, createdAt }: PendingCall): number {
  return resolvedAt ?? expiresAt ?? createdAt;
}

/** The card of a call, as it is now. */
export const pendingCard = (callId: string) =>
  queryOptions({
    queryKey: ['pending', 'card', callId],
    queryFn: async ({ signal }) => (await client.runs.call(callId, { signal })).card ?? null,
    refetchInterval: EVERY_MS,
  });
