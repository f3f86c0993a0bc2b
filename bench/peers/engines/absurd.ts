import { readFile } from 'node:fs/promises';
import { Absurd } from 'absurd-sdk';
import pg from 'pg';
import type { Engine, EngineModule, EnginePlace } from '../../engines/engine.ts';
import { versionOf } from '../version-of.ts';
import { askModel } from './agent-step.ts';

export const engines: readonly EngineModule[] = [
  {
    name: 'Absurd, PostgreSQL',
    of: versionOf('absurd-sdk'),
    guarantee:
      'The result of each `ctx.step` is committed before the task goes on. After a crash a tool that had no result yet is run again. ' +
      'Its worker polls every 250 ms when idle, by default. PostgreSQL with its defaults.',
    open,
    connect,
  },
];

/** As many runs as one of our gateways has open at once. With a slow model, a lower limit would decide the result. */
const CONCURRENCY = 500;

async function open({ databaseUrl, steps, modelAnswers, tool }: EnginePlace): Promise<Engine> {
  await installSchema(databaseUrl);
  const absurd = new Absurd({ db: databaseUrl });
  await absurd.createQueue();
  absurd.registerTask<{ run: string }, null>({ name: 'run' }, async ({ run }, ctx) => {
    for (let step = 0; step < steps; step++) {
      await ctx.step(`model-${step}`, () => askModel({ modelAnswers }));
      await ctx.step(`tool-${step}`, async () => tool(run));
    }
    return null;
  });
  // A task that waits for its next message is an agent. It is unloaded while it waits, and then replayed from its checkpoints.
  absurd.registerTask<{ agent: string }, null>({ name: 'agent' }, async ({ agent }, ctx) => {
    const heard: unknown[] = [];
    for (let number = 0; ; number++) {
      heard.push(await ctx.awaitEvent(eventOf(agent, number)));
      await ctx.step(`model-${number}`, () => askModel({ modelAnswers }));
      await ctx.step(`tool-${number}`, async () => tool('message'));
    }
  });
  const worker = await absurd.startWorker({ concurrency: CONCURRENCY });
  return {
    address: databaseUrl,
    store: 'postgres',
    async runAll(runs) {
      const spawned = await Promise.all(runs.map((run) => absurd.spawn('run', { run })));
      await Promise.all(spawned.map(({ taskID }) => absurd.awaitTaskResult(taskID, { timeout: 300 })));
    },
    async sleepers(count) {
      const agents = Array.from({ length: count }, (_, index) => `agent-${index}-${Date.now()}`);
      for (const agent of agents) await absurd.spawn('agent', { agent });
      return agents;
    },
    async close() {
      await worker.close();
      await absurd.close();
    },
  };
}

/** Each event name can be emitted only once, so each message has a separate name. */
function eventOf(agent: string, number: number): string {
  return `${agent}:${number}`;
}

/** The schema comes with a release of Absurd and with `absurdctl`, not with the package. */
async function installSchema(databaseUrl: string): Promise<void> {
  const file = process.env.ABSURD_SQL;
  if (file === undefined)
    throw new Error('ABSURD_SQL must name the file absurd.sql of the release that fits the package.');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(await readFile(file, 'utf8'));
  await client.end();
}

async function connect(databaseUrl: string): ReturnType<EngineModule['connect']> {
  const absurd = new Absurd({ db: databaseUrl });
  return { send: (agent, number) => absurd.emitEvent(eventOf(agent, number), number), close: () => absurd.close() };
}
