import { type Answer, everyItem, type Fork, type ForkChanges } from '@lastcall/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** The forks of a run, newest first. */
export function forksOf(runId: string) {
  return queryOptions({
    queryKey: ['runs', runId, 'forks'],
    queryFn: ({ signal }): Promise<readonly Fork[]> => everyItem((page) => client.runs.forks(runId, page, { signal })),
  });
}

/** What a run was forked from. Null if it is no fork. */
export function originOf(runId: string) {
  return queryOptions({
    queryKey: ['runs', runId, 'origin'],
    queryFn: async ({ signal }) => (await client.runs.get(runId, { signal })).fork ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Returns the id of the fork's first run. */
export async function startFork(runId: string, atStep: number, changes: ForkChanges): Promise<string> {
  return (await client.runs.fork(runId, { atStep, changes })).runId;
}

/** Answers a call of a fork. Returns the run that continues with the answer. */
export async function answerInFork(runId: string, callId: string, answer: Answer): Promise<string> {
  const verdict = await client.pending.answer({ runId, callId }, answer);
  if (verdict.status === 'won' || verdict.status === 'same') return verdict.runId;
  if (verdict.status === 'invalid') throw new Error(verdict.problems.map(({ message }) => message).join(' '));
  throw new Error('The call waits no longer: it was answered or cancelled before.');
}
