import { type Client, everyItem, type ForkChanges, type Run } from '@lastcall/client';
import type { EvalOutput, RunOptions } from '@lastcall/core/eval';
import type { Api } from '../api.ts';
import { endOf, waitingIn } from '../commands/fork.ts';
import { CommandFailed } from '../exit-code.ts';
import { runTask } from '../run-task.ts';
import { stopInWords } from '../stop-in-words.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { findAgent } from './find-agent.ts';

/** What is tried in place of the agent's configuration. */
export interface Draft {
  readonly model: string | undefined;
  readonly instructions: string | undefined;
  /** The file that the instructions were read from. */
  readonly file: string | undefined;
}

/**
 * Gives each case to an agent of the gateway. A case with a recorded run is a fork of that run, with the agent's configuration of today: its
 * calls get the recorded outcomes, and none acts outside. Any other case is a conversation in which tools run for real.
 */
export function agentRunner(api: Api, draft: Draft): NonNullable<RunOptions['runAgent']> {
  const changes = new Map<string, Promise<ForkChanges>>();
  const changesOf = (agent: string): Promise<ForkChanges> => {
    const known = changes.get(agent) ?? api.ask((client) => todaysChanges(client, agent, draft));
    changes.set(agent, known);
    return known;
  };
  return async (agent, { case: { input, run }, signal }): Promise<EvalOutput> => {
    if (run !== undefined) {
      const today = await changesOf(agent);
      return await api.ask((client) => forkOf(client, run, today));
    }
    const message = typeof input === 'string' ? input : JSON.stringify(input);
    const end = await runTask(api, { agent, message, until: [], signal, onEvent: () => {} });
    if (end.error !== undefined) throw new CommandFailed(end.error);
    const { runId, response } = end;
    if (runId === undefined) return { response };
    return await api.ask(async (client) => outputOf(client, await client.runs.get(runId), response));
  };
}

/** The agent's configuration of today with the draft, as changes of a fork. Tools as data cannot be changed in a fork. */
async function todaysChanges(client: Client, agent: string, draft: Draft): Promise<ForkChanges> {
  const { config } = await findAgent(client, agent);
  const model = draft.model ?? config.model;
  // None are a change too: the recorded run may have had some.
  const instructions = draft.instructions ?? config.instructions ?? '';
  const tools = config.tools?.filter((one) => typeof one === 'string');
  return {
    ...(model === undefined ? {} : { model }),
    instructions,
    ...(config.settings === undefined ? {} : { settings: config.settings }),
    ...(tools === undefined || tools.length < (config.tools?.length ?? 0) ? {} : { tools }),
  };
}

async function forkOf(client: Client, run: string, changes: ForkChanges): Promise<EvalOutput> {
  const forked = await client.runs.fork(run, { atStep: 1, changes });
  const ended = await endOf(client, forked.runId);
  const [waiting] = ended.counts.waiting === 0 ? [] : await waitingIn(client, ended);
  if (waiting !== undefined)
    throw new CommandFailed(
      `${waiting.toolName} ${plainLine(JSON.stringify(waiting.input), 200)} waits: the original has no outcome of such a call.`,
    );
  if (ended.status !== 'completed') {
    const why = ended.stop === undefined ? ended.status : stopInWords(ended.stop);
    throw new CommandFailed(`The fork did not complete: ${why}. See: lastcall replay ${ended.id}`);
  }
  return await outputOf(client, ended, ended.response ?? '');
}

async function outputOf({ runs }: Client, { id, usage, cost, stop }: Run, response: string): Promise<EvalOutput> {
  const items = await everyItem((page) => runs.transcript(id, page));
  const settlements = items.flatMap(({ entry }) => {
    if (entry.kind !== 'settled') return [];
    const { toolName, input, outcome } = entry.settlement;
    return [{ toolName, input, outcome: outcome as never }];
  });
  return {
    ...{ response, runId: id, settlements, stop: stop as never },
    ...(usage === undefined ? {} : { usage: usage as NonNullable<EvalOutput['usage']> }),
    ...(cost === undefined ? {} : { cost }),
  };
}
