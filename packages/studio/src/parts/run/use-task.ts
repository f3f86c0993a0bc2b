import type { Run, RunEntry, Story } from '@lastcall/client';
import type { WrittenRun } from '@lastcall/client/timeline';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { entriesOf, storyOf } from '../../data/runs.ts';

/** A task, with the transcripts of its runs, oldest first. */
export interface Task {
  readonly story: Story;
  readonly parts: readonly WrittenRun[];
}

/**
 * The task of a run. `run` and `entries` are live; the other runs of the task are read again as long as they change. Undefined until all of
 * it is loaded.
 */
export function useTask(id: string, run: Run | undefined, entries: readonly RunEntry[]): Task | undefined {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    ...storyOf(id),
    placeholderData: (before: Story | undefined) =>
      before?.runs.some((one) => one.id === id) === true ? before : undefined,
  });
  const change = run === undefined ? '' : `${run.status} ${JSON.stringify(run.counts)}`;
  // The stream of the run tells of answers to its calls before the task is read again.
  useEffect(() => {
    if (change !== '') void queries.invalidateQueries({ queryKey: storyOf(id).queryKey });
  }, [queries, id, change]);
  const others = data?.runs.filter((one) => one.id !== run?.id) ?? [];
  const loaded = useQueries({
    queries: others.map(entriesOf),
    combine: (results) => results.map((result) => result.data),
  });
  const story = data ?? (error === null || run === undefined ? undefined : aloneStory(run));
  // A run whose transcript is read again keeps the one that was read before.
  const known = useRef(new Map<string, readonly RunEntry[]>());
  return useMemo(() => {
    if (run === undefined || story === undefined) return undefined;
    known.current.set(run.id, entries);
    for (const [index, { id: other }] of others.entries()) {
      const read = loaded[index];
      if (read !== undefined) known.current.set(other, read);
    }
    if (story.runs.some((one) => !known.current.has(one.id))) return undefined;
    const parts = story.runs.map((one) => ({
      run: one.id === run.id ? run : one,
      entries: known.current.get(one.id) ?? [],
    }));
    return { story, parts };
  }, [run, entries, story, loaded]);
}

/** If the task cannot be read, the run is shown alone. */
function aloneStory(run: Run): Story {
  return { id: run.id, status: run.status, runs: [run], waits: [], startedAt: run.createdAt, endedAt: run.createdAt };
}
