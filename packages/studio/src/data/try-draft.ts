import { type AgentConfig, everyItem, type ForkChanges, type Run, type Task } from '@lastcall/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** How many tasks a draft is tried on. */
export const TRIED_TASKS = 10;

export const lastTasks = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'tasks'],
    queryFn: async ({ signal }) => (await client.agents.tasks(agentId, { limit: TRIED_TASKS }, { signal })).items,
    // The list of a trial that is shown must not change under it.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

/** What a task gave with the draft. */
export interface TriedTask {
  readonly runId: string;
  readonly response: string | undefined;
  readonly calls: Task['calls'];
  readonly tokens: number | undefined;
  /** Set if the fork stopped at a call of which the recorded run has no outcome, or failed. */
  readonly problem?: string;
}

/**
 * Does a task again with a draft of the configuration, as a fork of its run: its calls get the recorded outcomes, and nothing acts outside.
 */
export const triedTask = (task: Task, draft: ForkChanges) =>
  queryOptions({
    queryKey: ['tried', task.runId, draft],
    queryFn: async ({ signal }): Promise<TriedTask> => {
      const { runId } = await client.runs.fork(task.runId, { atStep: 1, changes: draft });
      const run = await endOf(runId, signal);
      const items = await everyItem((page) => client.runs.transcript(runId, page, { signal }));
      const calls = items.flatMap(({ entry }) =>
        entry.kind === 'settled' || entry.kind === 'pending'
          ? [{ toolName: entry.settlement.toolName, status: entry.settlement.outcome.status }]
          : [],
      );
      const problem = problemOf(run, calls);
      return {
        ...{ runId, response: run.response, calls, tokens: run.usage?.totalTokens },
        ...(problem === undefined ? {} : { problem }),
      };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // A second attempt would be a second fork.
    retry: false,
  });

function problemOf(run: Run, calls: Task['calls']): string | undefined {
  const waiting = calls.filter(({ status }) => status === 'pending').map(({ toolName }) => toolName);
  if (waiting.length > 0) return `It stopped at ${waiting.join(', ')}: the original has no outcome of such a call.`;
  return run.status === 'completed' ? undefined : `The run is ${run.status}.`;
}

async function endOf(runId: string, signal: AbortSignal): Promise<Run> {
  for (;;) {
    const run = await client.runs.get(runId, { signal });
    if (run.status !== 'running' && run.status !== 'queued') return run;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** The parts of a configuration that a fork can change. */
export function draftOf({ instructions = '', model, settings, tools }: Partial<AgentConfig>): ForkChanges {
  const names = tools?.filter((one) => typeof one === 'string');
  return {
    // None are a change too: the recorded run may have had some.
    instructions,
    ...(model === undefined ? {} : { model }),
    ...(settings === undefined ? {} : { settings }),
    // A tool as data is part of the configuration itself, which a fork takes from its run.
    ...(names === undefined || names.length < (tools?.length ?? 0) ? {} : { tools: names }),
  };
}
