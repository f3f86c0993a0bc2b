import type { EvalOutput, RunOptions } from '@lastcall/core/eval';
import type { Api } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';
import { runTask } from '../run-task.ts';

/** Gives each case to an agent of the gateway, as a conversation of its own. */
export function agentRunner(api: Api): NonNullable<RunOptions['runAgent']> {
  return async (agent, { case: { input }, signal }): Promise<EvalOutput> => {
    const message = typeof input === 'string' ? input : JSON.stringify(input);
    const end = await runTask(api, { agent, message, until: [], signal, onEvent: () => {} });
    if (end.error !== undefined) throw new CommandFailed(end.error);
    const { runId } = end;
    if (runId === undefined) return { response: end.response };
    const { usage, cost, calls } = await api.ask(async (client) => {
      const run = await client.runs.get(runId);
      return { ...run, calls: await settlementsOf(client, runId) };
    });
    return {
      ...{ response: end.response, runId, settlements: calls, stop: end.stop as never },
      ...(usage === undefined ? {} : { usage: usage as NonNullable<EvalOutput['usage']> }),
      ...(cost === undefined ? {} : { cost }),
    };
  };
}

type AskedClient = Parameters<Parameters<Api['ask']>[0]>[0];

async function settlementsOf({ runs }: AskedClient, runId: string): Promise<NonNullable<EvalOutput['settlements']>> {
  const { items } = await runs.transcript(runId);
  return items.flatMap(({ entry }) => {
    if (entry.kind !== 'settled') return [];
    const { toolName, input, outcome } = entry.settlement;
    return [{ toolName, input, outcome: outcome as never }];
  });
}
