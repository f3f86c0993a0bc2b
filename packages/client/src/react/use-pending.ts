import { useCallback, useEffect, useState } from 'react';
import { everyItem } from '../every-item.ts';
import { isPageHidden } from '../page-visibility.ts';
import type { Verdict } from '../verdict.ts';
import type { Answer, PendingCall } from '../wire.generated.ts';
import { useLastcall } from './provider.ts';
import { useChange } from './use-change.ts';

export interface PendingOptions {
  /** Default `waiting`. */
  readonly show?: 'waiting' | 'answered' | 'expired';
  /** How often to poll while the page is visible, in milliseconds. Default 5,000. */
  readonly everyMs?: number;
}

export interface UsedPending {
  /** Undefined until they are loaded. Those with the least time left come first; of those that ended, the newest. */
  readonly calls: readonly PendingCall[] | undefined;
  readonly error: Error | undefined;
  answer(call: Pick<PendingCall, 'runId' | 'callId' | 'round'>, answer: Answer): Promise<Verdict>;
}

/** The calls that wait for the client's user, across spaces. */
export function usePending({ show = 'waiting', everyMs = 5_000 }: PendingOptions = {}): UsedPending {
  const { client } = useLastcall();
  const [calls, setCalls] = useState<readonly PendingCall[]>();
  const [error, setError] = useState<Error>();
  const [asked, setAsked] = useState(0);
  useChange([client, show], () => {
    setCalls(undefined);
    setError(undefined);
  });
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    let isLoading = false;
    const load = async (): Promise<void> => {
      // A gateway that is slow, or does not answer, would get more requests each time.
      if (isLoading) return;
      isLoading = true;
      try {
        const items = await everyItem(
          (page) => client.pending.list({ status: STATUS[show], ...page }, { signal }),
          // Each call that waits has to be answered. Those that ended are only the newest.
          show === 'waiting' ? {} : { most: 1 },
        );
        if (signal.aborted) return;
        setCalls(items);
        setError(undefined);
      } catch (error) {
        if (!signal.aborted) setError(error as Error);
      } finally {
        isLoading = false;
      }
    };
    void load();
    const timer = setInterval(() => {
      if (!isPageHidden()) void load();
    }, everyMs);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [client, show, everyMs, asked]);
  const answer = useCallback<UsedPending['answer']>(
    async (call, given) => {
      const verdict = await client.pending.answer(call, given);
      setAsked((count) => count + 1);
      return verdict;
    },
    [client],
  );
  return { calls, error, answer };
}

const STATUS = { waiting: 'pending', answered: 'resolved', expired: 'expired' } as const;
