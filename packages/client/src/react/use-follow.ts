import { type DependencyList, useEffect, useState } from 'react';
import type { ConnectionState, StreamOptions } from '../event-stream.ts';

interface Followed {
  readonly connection: ConnectionState;
  readonly error: Error | undefined;
}

/** What is followed runs with these, until the component goes. */
export interface Following extends StreamOptions {
  readonly signal: AbortSignal;
  readonly onConnection: (state: ConnectionState) => void;
  /** Shows an error, or takes it back. What goes on may go on. */
  readonly setError: (error: unknown) => void;
}

/** Runs something until the component goes, and says how its connection is. */
export function useFollow(follow: (following: Following) => Promise<void>, deps: DependencyList): Followed {
  const [state, setState] = useState<Followed>(START);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const set = (change: Partial<Followed>): void => {
      if (!signal.aborted) setState((before) => ({ ...before, ...change }));
    };
    const setError = (error: unknown): void => set({ error: error as Error | undefined });
    setState(START);
    follow({ signal, setError, onConnection: (connection) => set({ connection }) }).catch(setError);
    return () => abort.abort();
  }, deps);
  return state;
}

const START: Followed = { connection: 'connecting', error: undefined };
