import type { Run } from '@lastcall/client';

export interface MergedRuns {
  readonly runs: readonly Run[];
  /** Runs that began meanwhile and are not shown yet. */
  readonly held: number;
}

/**
 * The pages that were loaded, each run as it is now, and above them the runs that began since. While `isHeld`, those are counted and not
 * shown: rows that move under a reader's eyes are lost.
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
