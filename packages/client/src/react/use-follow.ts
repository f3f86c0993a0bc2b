import { type DependencyList, useEffect, useState } from 'react';
import type { ConnectionState, StreamOptions } from '../event-stream.ts';
import { useChange } from './use-change.ts';

interface Followed {
  readonly connection: ConnectionState;
  readonly error: Error | undefined;
}

/** Passed to the followed function; they are valid until the component unmounts. */
export interface Following extends StreamOptions {
  readonly signal: AbortSignal;
  readonly onConnection: (state: ConnectionState) => void;
  /** Shows an error, or clears it. The stream may continue after an error. */
  readonly setError: (error: unknown) => void;
}

interface FollowedValues {
  /** It is run again when one of them changes. */
  readonly deps: DependencyList;
  /** Called when one of them has changed, before anything is shown. */
  readonly forget: () => void;
}

/** Runs a function until the component unmounts, and reports the state of its connection. */
export function useFollow(follow: (following: Following) => Promise<void>, { deps, forget }: FollowedValues): Followed {
  const [state, setState] = useState<Followed>(START);
  useChange(deps, () => {
    setState(START);
    forget();
  });
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
