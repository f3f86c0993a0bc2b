import type { Run } from '@lastcall/client';

export interface MergedRuns {
  readonly runs: readonly Run[];
  /** The number of new runs that are not shown yet. */
  readonly held: number;
}

/**
 * The loaded pages, each run in its current state, and above them the runs that began since. While `isHeld`, new runs
 * are counted and not shown, because rows that move make readers lose their place.
 */
export function mergeRuns(
  loaded: readonly Run[],
  newest: readonly Run[],
  { isHeld, shownUntil }: { isHeld: boolean; shownUntil: string | undefined },
): MergedRuns {
  const fresh = new Map(newest.map((run) => [run.id, run]));
  const known = new Set(loaded.map(({ id }) => id));
  const begun = newest.filter(({ id }) => !known.has(id));
  const shown = isHeld ? begun.filter(({ id }) => shownUntil !== undefined && id <= shownUntil) : begun;
  return {
    runs: [...shown, ...loaded.map((run) => fresh.get(run.id) ?? run)],
    held: begun.length - shown.length,
  };
}
