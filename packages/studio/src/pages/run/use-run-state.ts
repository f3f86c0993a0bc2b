import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { RunSearch } from '../../data/search.ts';
import type { RunChange, RunState } from '../../parts/run/timeline/run-state.ts';

/** The page of a run keeps its state in the address: a link shows the same to other users. */
export function useRunState(): RunState {
  const { id } = useParams({ from: '/runs/$id' });
  const search = useSearch({ from: '/runs/$id' });
  const navigate = useNavigate({ from: '/runs/$id' });
  const router = useRouter();
  const set = useCallback<RunState['set']>(
    (change, { replace = false, runId = id } = {}) =>
      void navigate({
        to: '/runs/$id',
        params: { id: runId },
        search: (before: RunSearch) => without({ ...before, ...change }),
        replace,
      }),
    [navigate, id],
  );
  const hrefOf = (change: RunChange): string =>
    router.buildLocation({ to: '/runs/$id', params: { id }, search: without({ ...search, ...change }) }).href;
  return { id, search, set, hrefOf };
}

function without(search: RunChange): RunSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
}
