import type { Change } from '../results/changes.ts';
import { NO_PATH_LIMITS, normalisePath } from './file-path.ts';

/** How often which files were changed. */
export interface FileCounts {
  /** Counts a requested change. The returned function reverts the count, if the change was refused. */
  count(operation: 'Writing' | 'Deleting' | 'Restoring', path: string): () => void;
  /** Saves the count of a file. The returned function resets it, if the file was restored. */
  mark(path: string): () => void;
  list(): readonly Change[];
}

export function createFileCounts(): FileCounts {
  const counts = new Map<string, { count: number; last: 'written' | 'deleted' }>();

  const set = (path: string, known: { count: number; last: 'written' | 'deleted' } | undefined): void => {
    if (known === undefined || known.count === 0) counts.delete(path);
    else counts.set(path, known);
  };

  return {
    count(operation, given) {
      const path = toPath(given);
      // A restored file is counted by the mark that it returns to.
      if (path === undefined || operation === 'Restoring') return () => {};
      const before = counts.get(path);
      set(path, { count: (before?.count ?? 0) + 1, last: operation === 'Writing' ? 'written' : 'deleted' });
      return () => {
        const now = counts.get(path);
        set(path, now && { ...(before ?? now), count: now.count - 1 });
      };
    },
    mark(given) {
      const path = toPath(given);
      const marked = path === undefined ? undefined : counts.get(path);
      return () => {
        if (path !== undefined) set(path, marked);
      };
    },
    list: () => [...counts].map(([name, { count, last }]) => ({ kind: 'file', name, count, sample: last })),
  };
}

/** An invalid path names no file; the operation itself reports the error. */
function toPath(path: string): string | undefined {
  try {
    return normalisePath(path, NO_PATH_LIMITS);
  } catch {
    return undefined;
  }
}
