import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, type TestGatewayOptions, waitFor } from '@lastcall/gateway/testing';
import type { AgentConfigInput } from '../../src/config/agent-config.ts';
import type { McpServerConfig } from '../../src/config/mcp-server.ts';
import { isFirstStep } from '../support/requests.ts';
import { type OnEnd, scratchFolder } from '../support/scratch-folder.ts';
import type { Files, State } from './misbehaving-server.ts';

/** One call of a run. */
interface Asked {
  readonly toolName: string;
  readonly input?: object;
}

interface Settled {
  readonly toolName: string;
  readonly outcome: {
    readonly status: string;
    readonly code?: string;
    readonly value?: unknown;
    readonly text: string;
    readonly content?: readonly { readonly mediaType: string }[];
  };
}

/** What a run did. */
interface ActiveRun {
  readonly runId: string;
  readonly status: string;
  readonly settled: readonly Settled[];
  /** The names of the offered tools, step by step. */
  readonly offered: readonly (readonly string[])[];
  /** The requests to the model, step by step. */
  readonly requests: readonly string[];
}

/** A real gateway with one agent that has MCP servers. */
export interface McpAgent extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly agentId: string;
  /** Performs one run with one step for each group of calls. */
  run(...steps: readonly (readonly Asked[])[]): Promise<ActiveRun>;
  /** Begins a run, and does not wait for its end. */
  begin(...steps: readonly (readonly Asked[])[]): Promise<void>;
  /** Waits for the end of a run that was not waited for yet. */
  ended(): Promise<ActiveRun>;
}

type Options = Omit<TestGatewayOptions, 'agents' | 'model'> & { readonly agent?: Partial<AgentConfigInput> };

export async function startMcpAgent(
  servers: readonly McpServerConfig[],
  { agent = {}, ...options }: Options = {},
): Promise<McpAgent> {
  let steps: readonly (readonly Asked[])[] = [];
  let offered: string[][] = [];
  let requests: string[] = [];
  const model = scriptedModel((request) => {
    if (isFirstStep(request)) [offered, requests] = [[], []];
    offered.push((request.tools ?? []).map(({ name }) => name));
    requests.push(JSON.stringify({ prompt: request.prompt, tools: request.tools }));
    const [next, ...rest] = steps;
    steps = rest;
    return next === undefined ? 'Done.' : next.map(({ toolName, input = {} }) => ({ toolName, input }));
  });
  const gateway = await startTestGateway({
    ...options,
    model,
    agents: [{ name: 'Asker', instructions: 'Ask.', mcp: { servers: servers.map(patient) }, ...agent }],
  });
  const [{ id: agentId }] = (await gateway.api('/api/agents')).items;
  // On a very busy machine the database may be slow; then the request is repeated.
  const newestRun = async () => (await gateway.api(`/api/runs?agentId=${agentId}&limit=1`)).items?.[0];
  let lastRunId = (await newestRun())?.id;
  const begin: McpAgent['begin'] = async (...given) => {
    steps = given;
    await gateway.api(`/api/agents/${agentId}/events`, { source: 'test', name: 'ask' });
  };
  const ended = async (): Promise<ActiveRun> => {
    const run = await waitFor(
      async () => {
        const newest = await newestRun();
        return newest !== undefined && newest.id !== lastRunId && newest.status !== 'running' && newest;
      },
      { timeoutMs: 180_000 },
    );
    lastRunId = run.id;
    const { items } = await gateway.api(`/api/runs/${run.id}/transcript?limit=200`);
    const settled = items
      .map((row: { entry: { kind: string; settlement: Settled } }) => row.entry)
      .filter(({ kind }: { kind: string }) => kind === 'settled' || kind === 'pending')
      .map(({ settlement }: { settlement: Settled }) => settlement);
    return { runId: run.id, status: run.status, settled, offered: [...offered], requests: [...requests] };
  };
  return {
    gateway,
    agentId,
    begin,
    ended,
    async run(...given) {
      await begin(...given);
      return await ended();
    },
    [Symbol.asyncDispose]: () => gateway.stop(),
  };
}

/** A machine that is busy with other tests may take a minute to start a process. */
function patient(server: McpServerConfig): McpServerConfig {
  return { connectTimeout: 180_000, ...server };
}

/** A test server in a separate process, and the files through which the test controls it. */
export async function stdioServer(
  more: Partial<McpServerConfig> = {},
  onEnd?: OnEnd,
): Promise<{ readonly server: McpServerConfig; readonly files: Files }> {
  const files = await serverFiles(onEnd);
  const script = new URL('stdio-server.ts', import.meta.url).pathname;
  return {
    files,
    server: {
      name: 'local',
      transport: 'stdio',
      command: process.execPath,
      args: [script, files.log, files.state],
      // Two thirds of its start is stripping types and compiling, which the cache of an earlier start saves.
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' },
      ...more,
    },
  };
}

export async function serverFiles(onEnd?: OnEnd): Promise<Files> {
  const folder = await scratchFolder('mcp', onEnd);
  const files = { log: join(folder, 'log'), state: join(folder, 'state') };
  await writeFile(files.log, '');
  return files;
}

export async function setState({ state }: Files, value: State): Promise<void> {
  await writeFile(state, JSON.stringify(value));
}

export async function logOf({ log }: Files): Promise<readonly string[]> {
  return (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
}
