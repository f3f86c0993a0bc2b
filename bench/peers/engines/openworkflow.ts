import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpenWorkflow } from 'openworkflow';
import { BackendPostgres } from 'openworkflow/postgres';
import { BackendSqlite } from 'openworkflow/sqlite';
import type { Engine, EngineModule, EnginePlace } from '../../engines/engine.ts';
import { versionOf } from '../version-of.ts';
import { askModel } from './agent-step.ts';

const guarantee =
  'The start and the result of each `step.run` are committed, each before the workflow goes on. After a crash a tool that had no ' +
  'result yet is run again. A signal reaches only workflows that wait for it at that moment: messages posted while an agent works ' +
  'are dropped, so it has no figure for messages. Its worker polls.';
const of = versionOf('openworkflow');

export const engines: readonly EngineModule[] = [
  {
    name: 'OpenWorkflow, PostgreSQL',
    of,
    guarantee: `${guarantee} PostgreSQL with its defaults.`,
    open: async (place) => open(place, await BackendPostgres.connect(place.databaseUrl), place.databaseUrl),
    connect: async (url) => senderOf(await BackendPostgres.connect(url)),
  },
  {
    name: 'OpenWorkflow, SQLite',
    of,
    guarantee:
      `${guarantee} SQLite with a write-ahead log, synchronous = FULL by default, for one process: a client in another finds the ` +
      'database locked, so it has no figure for wakes.',
    open: async (place) => {
      const { waiters: _none, ...engine } = await open(place, BackendSqlite.connect(join(place.folder, 'runs.db')), '');
      return engine;
    },
    connect: async () => ({ send: async () => {}, close: async () => {} }),
  },
];

type Backend = BackendPostgres | BackendSqlite;

async function open(
  { steps, atOnce, modelAnswers, tool }: EnginePlace,
  backend: Backend,
  address: string,
): Promise<Engine> {
  const ow = new OpenWorkflow({ backend });
  const work = ow.defineWorkflow<{ run: string }, void>({ name: 'run' }, async ({ input, step }) => {
    for (let index = 0; index < steps; index++) {
      await step.run({ name: `model-${index}` }, () => askModel({ modelAnswers }));
      await step.run({ name: `tool-${index}` }, () => tool(input.run));
    }
  });
  const waiter = ow.defineWorkflow<{ agent: string }, void>({ name: 'waiter' }, async ({ input, step }) => {
    await step.waitForSignal({ signal: input.agent, timeout: '1h' });
    await step.run({ name: 'model' }, () => askModel({ modelAnswers }));
    await step.run({ name: 'tool' }, () => tool('message'));
  });
  const worker = ow.newWorker({ concurrency: atOnce });
  await worker.start();
  return {
    address,
    store: backend instanceof BackendPostgres ? 'postgres' : 'embedded',
    async runAll(runs) {
      const handles = await Promise.all(runs.map((run) => work.run({ run })));
      await Promise.all(handles.map((handle) => handle.result()));
    },
    async waiters(count) {
      const agents = Array.from({ length: count }, (_, index) => `agent-${index}-${Date.now()}`);
      for (const agent of agents) await waiter.run({ agent });
      // A signal that comes before they wait would be dropped; `send` reports that.
      await sleep(SETTLE_MS);
      return agents;
    },
    async close() {
      await worker.stop();
      await backend.stop();
    },
  };
}

/** Several polls of an idle worker. */
const SETTLE_MS = 5_000;

function senderOf(backend: Backend): Awaited<ReturnType<EngineModule['connect']>> {
  const ow = new OpenWorkflow({ backend });
  return {
    async send(agent, number) {
      const { workflowRunIds } = await ow.sendSignal({ signal: agent, data: number });
      if (workflowRunIds.length !== 1) throw new Error(`${workflowRunIds.length} workflows wait for ${agent}.`);
    },
    close: () => backend.stop(),
  };
}
