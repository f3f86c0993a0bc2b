import type { AgentFile, InboxItem } from '@lastcall/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';
import { everyPage } from './every-page.ts';

/** Agents with their current activity, a page at a time. It is polled. */
export const agentPages = infiniteQueryOptions({
  queryKey: ['agents', 'pages'],
  queryFn: ({ pageParam, signal }) =>
    client.agents.list({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
  refetchInterval: EVERY_MS,
});

/** All agents except deleted ones, to choose from. */
export const agentList = queryOptions({
  queryKey: ['agents', 'all'],
  queryFn: ({ signal }) => everyPage((page) => client.agents.list(page, { signal })),
  staleTime: 5_000,
});

/** The lists of agents, to be loaded again after an agent is created or deleted. */
export const AGENT_LISTS = [agentPages.queryKey, agentList.queryKey] as const;

export const agentById = (id: string) =>
  queryOptions({
    queryKey: ['agents', id],
    queryFn: ({ signal }) => client.agents.get(id, { signal }),
    refetchInterval: EVERY_MS,
  });

export const agentSpaces = (entityId: string) =>
  queryOptions({
    queryKey: ['agents', 'spaces', entityId],
    queryFn: async ({ signal }) => (await client.spaces.list({ entityId, limit: 100 }, { signal })).items,
  });

export const agentVersions = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['agents', id, 'versions'],
    queryFn: ({ pageParam, signal }) =>
      client.agents.versions(id, { limit: 20, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });

/** `status` undefined: events of every status. */
export const agentInbox = (id: string, status: InboxItem['status'] | undefined) =>
  infiniteQueryOptions({
    queryKey: ['agents', id, 'inbox', status ?? 'all'],
    queryFn: ({ pageParam, signal }) =>
      client.agents.inbox(
        id,
        { limit: 50, ...(status === undefined ? {} : { status }), ...(pageParam === '' ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: EVERY_MS,
  });

export const agentTranscript = (id: string) =>
  queryOptions({
    queryKey: ['agents', id, 'transcript'],
    queryFn: async ({ signal }) => {
      const [transcript, goals, memories] = await Promise.all([
        client.agents.transcript(id, { signal }),
        client.agents.goals(id, { signal }),
        client.agents.memories(id, { signal }),
      ]);
      return { messages: transcript.messages, goals: goals.items, memories: memories.items };
    },
    refetchInterval: EVERY_MS,
  });

export const agentPlans = (id: string) =>
  queryOptions({
    queryKey: ['agents', id, 'plans'],
    queryFn: async ({ signal }) => (await client.agents.plans(id, { signal })).items,
    refetchInterval: EVERY_MS,
  });

export const agentFiles = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['agents', id, 'files'],
    queryFn: ({ pageParam, signal }) =>
      client.agents.files(id, { limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: EVERY_MS,
  });

/** A file is read again when it has changed. */
export const agentFile = (id: string, { path, changedAt }: Pick<AgentFile, 'path' | 'changedAt'>) =>
  queryOptions({
    queryKey: ['agents', id, 'file', path, changedAt],
    queryFn: ({ signal }) => client.agents.file(id, path, {}, { signal }),
  });

/** The slices by name: of the agent itself, or of one of its conversations. */
export const agentSession = (id: string, contextId: string | undefined) =>
  queryOptions({
    queryKey: ['agents', id, 'session', contextId ?? 'own'],
    queryFn: async ({ signal }) =>
      (await client.agents.session(id, contextId === undefined ? {} : { contextId }, { signal })).slices,
    refetchInterval: EVERY_MS,
  });

/** The machine of the agent itself, or of one of its conversations. */
export const agentMachine = (id: string, contextId: string | undefined) =>
  queryOptions({
    queryKey: ['agents', id, 'machine', contextId ?? 'own'],
    queryFn: ({ signal }) => client.agents.machine(id, contextId === undefined ? {} : { contextId }, { signal }),
    refetchInterval: EVERY_MS,
  });

export const agentRuns = (id: string) =>
  queryOptions({
    queryKey: ['agents', id, 'runs'],
    queryFn: async ({ signal }) => (await client.runs.list({ agentId: id, limit: 10 }, { signal })).items,
    refetchInterval: EVERY_MS,
  });
