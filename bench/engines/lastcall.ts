import type { LanguageModelV4 } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { createGateway, type Gateway } from '@lastcall/gateway';
import { z } from 'zod';
import { everyRun } from '../gateway/every-run.ts';
import { task } from '../overhead/contender.ts';
import type { Engine, EngineModule, EnginePlace } from './engine.ts';
import { type HttpSender, openHttpSender } from './http-sender.ts';

const guarantee =
  'Before a tool runs, the end of the call before it, the model’s reply and the start of this call are committed. After a crash a ' +
  'call that started and did not end is not run again: the model reads that its outcome is unknown.';
const of = '@lastcall/gateway';

export const engines: readonly EngineModule[] = [
  {
    name: 'Lastcall, PostgreSQL',
    of,
    guarantee: `${guarantee} PostgreSQL with its defaults (fsync on, synchronous_commit on).`,
    open: (place) => open(place, { databaseUrl: place.databaseUrl }),
    connect,
  },
  {
    name: 'Lastcall, SQLite',
    of,
    guarantee: `${guarantee} SQLite with synchronous = FULL.`,
    open: (place) => open(place, { home: place.folder }),
    connect,
  },
];

const secretKey = 'sk_bench_0123456789abcdef';
const NAMED_RUN = 'run';

async function open(place: EnginePlace, settings: { databaseUrl: string } | { home: string }): Promise<Engine> {
  /** The index is the number of the model that plays the run. */
  const playing: { run: string; done: () => void; left: number }[] = [];
  const step = tool({
    description: task.description,
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute({ a }) {
      const played = playing[a];
      if (played === undefined) throw new Error(`No run is played by model ${a}.`);
      if (--played.left === 0) played.done();
      return place.tool(played.run);
    },
  });
  const note = tool({
    description: task.description,
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    terminal: true,
    execute: () => place.tool('message'),
  });
  const models = Array.from({ length: place.atOnce }, (_, index) => [
    `${NAMED_RUN}-${index}`,
    waiting(place, everyRun(place.steps, { toolName: 'step', input: `{"a":${index},"b":2}` })),
  ]);
  const gateway = createGateway({
    ...settings,
    secretKey,
    port: 0,
    logLevel: 'warn',
    env: {},
    limits: { agent: { maxSteps: 1_000_000, tokensPerCycle: 1e9, consciousnessTokens: 1e9, eventsPerCycle: 1 } },
    models: {
      ...Object.fromEntries(models),
      note: waiting(place, everyRun(Number.POSITIVE_INFINITY, { toolName: 'note', input: task.input })),
    },
    tools: { step: { tool: step, visible: false }, note: { tool: note, visible: false } },
  });
  await gateway.start();
  const http = openHttpSender(gateway.url, { authorization: `Bearer ${secretKey}` });
  return {
    address: gateway.url,
    store: 'home' in settings ? 'embedded' : 'postgres',
    async runAll(runs) {
      await Promise.all(
        runs.map(async (run, index) => {
          const { promise, resolve } = Promise.withResolvers<void>();
          playing[index] = { run, done: resolve, left: place.steps };
          const agent = await createAgent(http, { model: `${NAMED_RUN}-${index}`, tools: ['step'] });
          await pushEvent(http, agent, 0);
          await promise;
        }),
      );
    },
    sleepers: (count) => createSleepers(http, count),
    close: () => close(gateway, http),
  };
}

function waiting({ modelAnswers }: EnginePlace, model: LanguageModelV4): LanguageModelV4 {
  return {
    ...model,
    async doStream(options) {
      await modelAnswers();
      return await model.doStream(options);
    },
  };
}

async function close(gateway: Gateway, http: HttpSender): Promise<void> {
  http.close();
  await gateway.stop();
}

async function createSleepers(http: HttpSender, count: number): Promise<readonly string[]> {
  const agents: string[] = [];
  for (let index = 0; index < count; index++) agents.push(await createAgent(http, { model: 'note', tools: ['note'] }));
  return agents;
}

async function createAgent(http: HttpSender, config: { model: string; tools: readonly string[] }): Promise<string> {
  const body = { name: 'Sleeper', instructions: 'Note what you hear.', ...config };
  return (JSON.parse(await http.post('/api/agents', body)) as { id: string }).id;
}

function pushEvent(http: HttpSender, agent: string, number: number): Promise<string> {
  return http.post(`/api/agents/${agent}/events`, { source: 'bench', name: 'tick', data: number });
}

async function connect(url: string): ReturnType<EngineModule['connect']> {
  const http = openHttpSender(url, { authorization: `Bearer ${secretKey}` });
  return { send: (agent, number) => pushEvent(http, agent, number), close: async () => http.close() };
}
