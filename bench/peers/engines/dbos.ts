import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import type { Engine, EngineModule, EnginePlace } from '../../engines/engine.ts';
import { versionOf } from '../version-of.ts';
import { askModel } from './agent-step.ts';

export const engines: readonly EngineModule[] = [
  {
    name: 'DBOS, PostgreSQL',
    of: versionOf('@dbos-inc/dbos-sdk'),
    guarantee:
      'The result of each `DBOS.runStep` is committed before the workflow goes on. After a crash a tool that had no result yet is ' +
      'run again. PostgreSQL with its defaults (fsync on, synchronous_commit on); default pool and notifications.',
    open,
    connect,
  },
];

async function open({ databaseUrl, steps, modelAnswers, tool }: EnginePlace): Promise<Engine> {
  const oneStep = async (run: string): Promise<void> => {
    await DBOS.runStep(() => askModel({ modelAnswers }), { name: 'model' });
    await DBOS.runStep(async () => tool(run), { name: 'tool' });
  };
  const work = DBOS.registerWorkflow(
    async (run: string) => {
      for (let step = 0; step < steps; step++) await oneStep(run);
    },
    { name: 'run' },
  );
  // A workflow that receives for ever is an agent. It keeps the messages in its variables, which replay restores.
  const agent = DBOS.registerWorkflow(
    async () => {
      const heard: unknown[] = [];
      while (true) {
        const message = await DBOS.recv<number>('message', RECEIVE_SECONDS);
        if (message === null) continue;
        heard.push(message);
        await oneStep('message');
      }
    },
    { name: 'agent' },
  );
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: databaseUrl, logLevel: 'error' });
  await DBOS.launch();
  return {
    address: databaseUrl,
    store: 'postgres',
    async runAll(runs) {
      const handles = await Promise.all(runs.map((run) => DBOS.startWorkflow(work, { workflowID: run })(run)));
      await Promise.all(handles.map((handle) => handle.getResult()));
    },
    async sleepers(count) {
      const agents = Array.from({ length: count }, (_, index) => `agent-${index}-${Date.now()}`);
      for (const workflowID of agents) await DBOS.startWorkflow(agent, { workflowID })();
      return agents;
    },
    // Agents never end: they are left as after a crash.
    close: () => DBOS.shutdown({ workflowCompletionTimeoutMS: 0 }),
  };
}

/** Longer than any measurement, because a receive that times out is stored too. */
const RECEIVE_SECONDS = 3_600;

async function connect(databaseUrl: string): ReturnType<EngineModule['connect']> {
  const client = await DBOSClient.create({ systemDatabaseUrl: databaseUrl });
  return { send: (agent, number) => client.send(agent, number, 'message'), close: () => client.destroy() };
}
