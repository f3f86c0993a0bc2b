import type { Client } from '@lastcall/client';
import type { EvalOutput, RunOptions } from '@lastcall/core/eval';
import type { Api } from '../api.ts';
import { endOf, waitingIn } from '../commands/fork.ts';
import { CommandFailed } from '../exit-code.ts';
import { runTask } from '../run-task.ts';
import { plainLine } from '../terminal/plain-line.ts';

/** What is tried in place of the agent's configuration. */
export interface Draft {
  readonly model: string | undefined;
  readonly instructions: string | undefined;
}

/**
 * Gives each case to an agent of the gateway. A case with a recorded run is a fork of that run, with the agent's configuration of today: its
 * calls get the recorded outcomes, and none acts outside. Any other case is a conversation in which tools run for real.
 */
export function agentRunner(api: Api, draft: Draft): NonNullable<RunOptions['runAgent']> {
  return async (agent, { case: { input, run }, signal }): Promise<EvalOutput> => {
    if (run !== undefined) return await api.ask((client) => forkOf(client, { agent, run, draft }));
    const message = typeof input === 'string' ? input : JSON.stringify(input);
    const end = await runTask(api, { agent, message, until: [], signal, onEvent: () => {} });
    if (end.error !== undefined) throw new CommandFailed(end.error);
    const { runId, response } = end;
    return runId === undefined ? { response } : await api.ask((client) => outputOf(client, runId, response));
  };
}

interface Forked {
  readonly agent: string;
  readonly run: string;
  readonly draft: Draft;
}

async function forkOf(client: Client, { agent, run, draft }: Forked): Promise<EvalOutput> {
  const { config } = await findAgent(client, agent);
  const model = draft.model ?? (typeof config.model === 'string' ? config.model : undefined);
  const instructions = draft.instructions ?? config.instructions;
  const changes = {
    ...(model === undefined ? {} : { model }),
    ...(instructions === undefined || instructions === '' ? {} : { instructions }),
  };
  const forked = await client.runs.fork(run, { atStep: 1, changes });
  const ended = await endOf(client, forked.runId);
  const [waiting] = await waitingIn(client, ended);
  if (waiting !== undefined)
    throw new CommandFailed(
      `${waiting.toolName} ${plainLine(JSON.stringify(waiting.input), 200)} waits: the recorded run made no such call.`,
    );
  if (ended.status !== 'completed')
    throw new CommandFailed(`The fork is ${ended.status}. See: lastcall replay ${ended.id}`);
  return await outputOf(client, ended.id, ended.response ?? '');
}

async function findAgent(client: Client, name: string): Promise<{ readonly config: AgentParts }> {
  const { items } = await client.agents.list({ limit: 200 });
  const found = items.find((one) => one.name === name || one.id === name);
  if (found === undefined) throw new CommandFailed(`There is no agent "${name}".`);
  return found as { readonly config: AgentParts };
}

interface AgentParts {
  readonly model?: unknown;
  readonly instructions?: string;
}

async function outputOf({ runs }: Client, runId: string, response: string): Promise<EvalOutput> {
  const [{ usage, cost, stop }, { items }] = await Promise.all([runs.get(runId), runs.transcript(runId)]);
  const settlements = items.flatMap(({ entry }) => {
    if (entry.kind !== 'settled') return [];
    const { toolName, input, outcome } = entry.settlement;
    return [{ toolName, input, outcome: outcome as never }];
  });
  return {
    ...{ response, runId, settlements, stop: stop as never },
    ...(usage === undefined ? {} : { usage: usage as NonNullable<EvalOutput['usage']> }),
    ...(cost === undefined ? {} : { cost }),
  };
}
