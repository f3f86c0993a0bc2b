import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, type TestGatewayOptions, waitFor } from '@lastcall/gateway/testing';
import type { ToolConfigInput } from '../../src/config/tool-config.ts';
import { isFirstStep, resultsOf } from '../support/requests.ts';

/** How a call ended according to the transcript, and what the model read of it. */
interface Called {
  readonly outcome: {
    readonly status: string;
    readonly code?: string;
    readonly value?: unknown;
    readonly text: string;
  };
  readonly read: string;
  readonly callId: string;
  readonly runId: string;
}

/** A real gateway with one agent, which calls one configured tool with the requested input. */
export interface Caller extends AsyncDisposable {
  readonly gateway: TestGateway;
  call(input: object): Promise<Called>;
}

export async function startCaller(
  tool: Omit<ToolConfigInput, 'name'>,
  options: Omit<TestGatewayOptions, 'tools' | 'agents' | 'model'> = {},
): Promise<Caller> {
  let input: object = {};
  const read: string[] = [];
  const model = scriptedModel((request) => {
    if (isFirstStep(request)) return [{ toolName: 'ask', input }];
    read.push(resultsOf(request).at(-1)?.text ?? '');
    return 'Done.';
  });
  const agents = [{ name: 'Asker', instructions: 'Ask.', tools: ['ask'] }];
  const gateway = await startTestGateway({ ...options, model, agents, tools: { ask: tool } });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  let count = 0;
  return {
    gateway,
    async call(given) {
      input = given;
      await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ask' });
      count += 1;
      const run = await waitFor(
        async () => {
          const { items } = await gateway.api(`/api/runs?agentId=${id}&limit=100`);
          const ended = items.filter(({ status }: { status: string }) => status !== 'running');
          return ended.length === count && items[0];
        },
        { timeoutMs: 30_000 },
      );
      const { items } = await gateway.api(`/api/runs/${run.id}/transcript?limit=200`);
      const { settlement } = items.map((row: { entry: object }) => row.entry).findLast(isSettled) ?? {};
      return { outcome: settlement.outcome, callId: settlement.callId, read: read.at(-1) ?? '', runId: run.id };
    },
    [Symbol.asyncDispose]: () => gateway.stop(),
  };
}

function isSettled(entry: { kind?: string }): boolean {
  return entry.kind === 'settled';
}
