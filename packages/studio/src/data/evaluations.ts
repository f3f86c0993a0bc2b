import { type ComparedReport, everyItem } from '@lastcall/client';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

/** Evaluations with their newest results, a page at a time. */
export const evaluationPages = infiniteQueryOptions({
  queryKey: ['evaluations', 'pages'],
  queryFn: ({ pageParam, signal }) =>
    client.evaluations.list({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
  refetchInterval: EVERY_MS,
});

/** Their names, to choose from. */
export const evaluationNames = queryOptions({
  queryKey: ['evaluations', 'names'],
  queryFn: async ({ signal }) =>
    (await everyItem((page) => client.evaluations.list(page, { signal }))).map(({ name }) => name),
});

export const evaluationById = (id: string) =>
  queryOptions({
    queryKey: ['evaluations', id],
    queryFn: ({ signal }) => client.evaluations.get(id, { signal }),
    refetchInterval: EVERY_MS,
  });

/** The cases with their results in each of these versions, worst first. They are read again when a version or more of one arrives. */
export const evaluationResults = (id: string, versions: readonly Pick<ComparedReport, 'id' | 'samples'>[]) =>
  infiniteQueryOptions({
    queryKey: ['evaluations', id, 'results', ...versions.map((one) => [one.id, one.samples])],
    queryFn: ({ pageParam, signal }) =>
      client.evaluations.results(id, { limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  });

export const evaluationCases = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['evaluations', id, 'cases'],
    queryFn: ({ pageParam, signal }) =>
      client.evaluations.cases(id, { limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });

interface NewCase {
  /** The name of an evaluation. It is created if there is none. */
  readonly evaluation: string;
  readonly runId: string;
  readonly name?: string;
  readonly expected: string;
}

/** Stores a run as a case. Returns the id of its evaluation. */
export async function addCase({ evaluation, ...body }: NewCase): Promise<string> {
  const { id } = await client.evaluations.open(evaluation);
  await client.evaluations.addCase(id, body);
  return id;
}

export async function deleteCase(evaluationId: string, caseId: string): Promise<void> {
  await client.evaluations.deleteCase(evaluationId, caseId);
}

export async function deleteEvaluation(id: string): Promise<void> {
  await client.evaluations.delete(id);
}
