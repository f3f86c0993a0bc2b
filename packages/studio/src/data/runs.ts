import {
  type Agent,
  type AgentConfig,
  ClientError,
  everyItem,
  type PendingCall,
  type Run,
  type RunEntry,
  type StepRequest,
  type Story,
} from '@lastcall/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { EVERY_MS } from './every.ts';

export type RunsFilter = NonNullable<Parameters<typeof client.runs.list>[0]>;

const PAGE_SIZE = 50;
/** What is left out would be wrong, and not only missing. */
const WHOLE = { most: Number.POSITIVE_INFINITY };

/** Runs, newest first, page by page. New ones come from `newestRuns`. */
export function allRuns(filter: RunsFilter) {
  return infiniteQueryOptions({
    queryKey: ['runs', 'all', filter],
    queryFn: ({ pageParam, signal }) =>
      client.runs.list({ ...filter, limit: PAGE_SIZE, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

export function newestRuns(filter: RunsFilter) {
  return queryOptions({
    queryKey: ['runs', 'newest', filter],
    queryFn: ({ signal }) => client.runs.list({ ...filter, limit: PAGE_SIZE }, { signal }),
    refetchInterval: EVERY_MS,
    gcTime: 0,
  });
}

/** The names of all agents, by id. */
export const agentNames = queryOptions({
  queryKey: ['agents', 'names'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const agents = await everyItem((page) => client.agents.list(page, { signal }), WHOLE);
    return new Map(agents.map(({ id, name }) => [id, name]));
  },
  staleTime: 30_000,
});

/** The agent of a run, and the configuration that the run used. A deleted agent has none. */
export function agentOfRun(agentId: string, version: number) {
  return queryOptions({
    queryKey: ['agents', agentId, 'version', version],
    queryFn: async ({ signal }): Promise<{ agent: Agent; config: AgentConfig } | null> => {
      try {
        const agent = await client.agents.get(agentId, { signal });
        if (agent.configVersion === version) return { agent, config: agent.config };
        const { items } = await client.agents.versions(agentId, { limit: 200 }, { signal });
        return { agent, config: items.find((one) => one.version === version)?.config ?? agent.config };
      } catch (error) {
        // A gateway that does not respond at the moment says nothing about the agent.
        if (error instanceof ClientError && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: 60_000,
  });
}

/** The run that the answer to a call started. */
export function runOfAnswer({ agentId, callId, kind }: Pick<PendingCall, 'agentId' | 'callId' | 'kind'>) {
  return queryOptions({
    queryKey: ['runs', 'of-answer', callId],
    queryFn: async ({ signal }): Promise<Run | null> => {
      const eventId = `tool_result:${callId}${kind === 'approval' ? ':decision' : ''}`;
      const { items } = await client.runs.list({ agentId, eventId, limit: 1 }, { signal });
      return items[0] ?? null;
    },
    refetchInterval: ({ state }) => (state.data == null ? EVERY_MS : false),
  });
}

/** A run that has ended. */
export function runById(id: string) {
  return queryOptions({
    queryKey: ['runs', id],
    queryFn: ({ signal }): Promise<Run> => client.runs.get(id, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** How many of the events that woke a run can be retried. */
export function deadEventsOf({ id, agentId }: Pick<Run, 'id' | 'agentId'>) {
  return queryOptions({
    queryKey: ['runs', id, 'dead-events'],
    queryFn: async ({ signal }): Promise<number> =>
      (await client.agents.inbox(agentId, { runId: id, status: 'dead', limit: 1 }, { signal })).items.length,
    refetchInterval: EVERY_MS,
  });
}

/** Retries the events that started a failed run. */
export async function redriveRun(id: string): Promise<void> {
  const { agentId, trigger } = await client.runs.get(id);
  const redriven = await client.agents.redrive(
    agentId,
    trigger.map(({ eventId }) => eventId),
  );
  if (redriven.length === 0) throw new Error('Nothing is left to retry: another user may have retried it already.');
}

/** A run that has ended, complete. */
export function endedRun(id: string) {
  return queryOptions({
    queryKey: ['runs', id, 'whole'],
    queryFn: async ({ signal }): Promise<{ run: Run; entries: readonly RunEntry[] }> => {
      const entries = await everyItem((page) => client.runs.transcript(id, page, { signal }), WHOLE);
      return { run: await client.runs.get(id, { signal }), entries };
    },
    // A fork that is compared may still run.
    refetchInterval: ({ state }) => (isUnderWay(state.data?.run) ? EVERY_MS : false),
  });
}

/** The task of a run. Its answers are not in the stream of a run that has ended, so it is read again until it is over. */
export function storyOf(id: string) {
  return queryOptions({
    queryKey: ['runs', id, 'story'],
    queryFn: ({ signal }): Promise<Story> => client.runs.story(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.endedAt === undefined ? STORY_MS : false),
  });
}

/** Runs of a task begin and end within a second of an answer. */
const STORY_MS = 1_500;

/** The transcript of a run of a task. It changes with the state of the run and of its calls. */
export function entriesOf({ id, status, counts }: Run) {
  return queryOptions({
    queryKey: ['runs', id, 'entries', status, counts],
    queryFn: ({ signal }): Promise<readonly RunEntry[]> =>
      everyItem((page) => client.runs.transcript(id, page, { signal }), WHOLE),
    refetchInterval: status === 'running' ? STORY_MS : false,
  });
}

function isUnderWay(run: Run | undefined): boolean {
  return run?.status === 'running' || run?.status === 'queued';
}

/** The run of the same agent before or after this one. */
export async function neighbourOf(
  { id, agentId, createdAt }: Run,
  side: 'before' | 'after',
): Promise<string | undefined> {
  if (side === 'before') return (await client.runs.list({ agentId, cursor: id, limit: 1 })).items[0]?.id;
  let nearest: string | undefined;
  for (let cursor: string | undefined; ; ) {
    const page = await client.runs.list({
      agentId,
      since: createdAt,
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    });
    nearest = page.items.findLast((run) => run.id > id)?.id ?? nearest;
    if (page.next === undefined) return nearest;
    cursor = page.next;
  }
}

/** What the model was sent in a step. It never changes. */
export function stepRequest(runId: string, step: number) {
  return queryOptions({
    queryKey: ['runs', runId, 'request', step],
    queryFn: ({ signal }): Promise<StepRequest> => client.runs.request(runId, step, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** All runs that tried the same event, oldest first. */
export function attemptsOf({ agentId, id, trigger }: Run) {
  return queryOptions({
    queryKey: ['runs', id, 'attempts'],
    queryFn: async ({ signal }): Promise<readonly Run[]> => {
      const eventId = trigger[0]?.eventId;
      if (eventId === undefined) return [];
      return (await client.runs.list({ agentId, eventId, limit: 200 }, { signal })).items.toReversed();
    },
    refetchInterval: EVERY_MS,
  });
}
