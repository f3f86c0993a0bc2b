import { ClientError, type Message, type PendingCall } from '@lastcall/client';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';
import { everyPage } from './every-page.ts';
import type { InboxShow } from './search.ts';

const STATUS = { waiting: 'pending', answered: 'resolved', expired: 'expired' } as const;

/** Who looks for calls to answer. */
export interface Answerer {
  /** The person that the session acts for. */
  readonly entityId: string | undefined;
  /** An operator may answer every call. */
  readonly isOperator: boolean;
}

/**
 * Calls that wait or waited for the signed-in user. For an operator, also those without a space, which only operators and the owner of a
 * conversation can answer; for an operator without a person, all users' calls.
 */
export const pendingCalls = (show: InboxShow, { entityId, isOperator }: Answerer) =>
  queryOptions({
    queryKey: ['pending', show, entityId, isOperator],
    queryFn: async ({ signal }): Promise<readonly PendingCall[]> => {
      const list = async (filter: { readonly entityId?: string }): Promise<readonly PendingCall[]> => {
        const read: Parameters<typeof everyPage<PendingCall>>[0] = (page) =>
          client.pending.list({ status: STATUS[show], ...filter, ...page }, { signal });
        // Each call that waits has to be answered. Those that ended are only the newest.
        return show === 'waiting' ? await everyPage(read) : (await read({ limit: 200 })).items;
      };
      const own = entityId === undefined ? undefined : list({ entityId });
      if (own === undefined || !isOperator) return await (own ?? list({}));
      const [mine, all] = await Promise.all([own, list({})]);
      const known = new Set(mine.map(({ callId }) => callId));
      return [...mine, ...all.filter(({ callId, spaceId }) => spaceId === undefined && !known.has(callId))];
    },
    refetchInterval: EVERY_MS,
    select: (calls) => inOrder(show, calls),
  });

/** Waiting calls: least time left first. Ended calls: the newest first. */
function inOrder(show: InboxShow, calls: readonly PendingCall[]): readonly PendingCall[] {
  if (show !== 'waiting') return calls.toSorted((one, other) => endOf(other) - endOf(one));
  const left = ({ expiresAt = Number.MAX_SAFE_INTEGER }: PendingCall): number => expiresAt;
  return calls.toSorted((one, other) => left(one) - left(other) || one.createdAt - other.createdAt);
}

function endOf({ resolvedAt, expiresAt, createdAt }: PendingCall): number {
  return resolvedAt ?? expiresAt ?? createdAt;
}

/**
 * The current state of a call: its card, if a space shows it, and the details that operators and its answerers may
 * read.
 */
export const currentCall = (
  call: PendingCall,
  { entityId, isOver }: { readonly entityId: string | undefined; readonly isOver: boolean },
) =>
  queryOptions({
    // The key includes `isOver`, so that the call is loaded at once when it ends.
    queryKey: ['pending', 'call', call.callId, entityId, isOver],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<{ card?: Message | undefined; call?: PendingCall | undefined }> => {
      const { card, pending } = await client.runs.call(call.callId, { signal }).catch(ifHidden);
      return { card, call: pending };
    },
    refetchInterval: EVERY_MS,
  });

/** A user who has left the space of a call cannot read it any more. */
function ifHidden(error: unknown): { card?: undefined; pending?: undefined } {
  if (error instanceof ClientError && error.status === 404) return {};
  throw error;
}
