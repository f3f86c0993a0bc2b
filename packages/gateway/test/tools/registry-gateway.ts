import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, type TestGatewayOptions, waitFor } from '@lastcall/gateway/testing';
import { isFirstStep } from '../support/requests.ts';
import type { Database } from '../support/stores.ts';

export interface Ended {
  readonly callId: string;
  readonly runId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly outcome: {
    readonly status: string;
    readonly code?: string;
    readonly value?: unknown;
    readonly text: string;
    readonly [more: string]: unknown;
  };
}

/** A real gateway over HTTP whose model makes the calls of the test in the first step of each run. */
export interface RegistryGateway extends TestGateway {
  /** The replies of the model in the first step of the next runs, mostly calls. */
  calls: ScriptedReply;
  /** Sends an event to the agent, and returns the outcomes of the calls of its run. */
  runTurnLoop(agentId: string): Promise<readonly Ended[]>;
  runsEnded(agentId: string): Promise<number>;
  /** Resolves with the settled and pending entries of the newest run, once so many runs have ended. */
  afterRuns(agentId: string, count: number): Promise<readonly Ended[]>;
}

export async function startRegistryGateway(
  database: Database,
  options: Omit<TestGatewayOptions, 'model'> = {},
): Promise<RegistryGateway> {
  const model = scriptedModel((request) => (isFirstStep(request) ? started.calls : 'Done.'));
  const settings = database.kind === 'postgres' ? { databaseUrl: database.location } : { home: database.location };
  const gateway = await startTestGateway({ ...options, ...settings, model });
  const runsOf = async (agentId: string): Promise<readonly { id: string; status: string }[]> =>
    (await gateway.api(`/api/runs?agentId=${agentId}&limit=200`)).items;
  const started: RegistryGateway = {
    ...gateway,
    calls: [],
    runsEnded: async (agentId) => (await runsOf(agentId)).filter(({ status }) => status !== 'running').length,
    async runTurnLoop(agentId) {
      const before = await started.runsEnded(agentId);
      await gateway.api(`/api/agents/${agentId}/events`, { source: 'test', name: 'go' });
      return await started.afterRuns(agentId, before + 1);
    },
    async afterRuns(agentId, count) {
      const runs = await waitFor(
        async () => {
          const all = await runsOf(agentId);
          const isOver = all.length >= count && all.every(({ status }) => status !== 'running');
          return isOver && all;
        },
        { timeoutMs: 30_000 },
      );
      const runId = runs[0]?.id ?? '';
      const { items } = await gateway.api(`/api/runs/${runId}/transcript?limit=200`);
      return items.flatMap(({ entry }: { entry: { kind: string; settlement: object } }) =>
        entry.kind === 'settled' || entry.kind === 'pending' ? [{ ...entry.settlement, runId }] : [],
      );
    },
  };
  return started;
}
