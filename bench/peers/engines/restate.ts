import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
import type { Engine, EngineModule, EnginePlace } from '../../engines/engine.ts';
import { versionOf } from '../version-of.ts';
import { askModel } from './agent-step.ts';
import { freePort } from './free-port.ts';

export const engines: readonly EngineModule[] = [
  {
    name: 'Restate',
    of: versionOf('@restatedev/restate-server'),
    guarantee:
      'The results of `ctx.run` are in the server’s replicated log (one node here, its write-ahead log synced to disk by ' +
      'default) before the handler goes on. After a crash a tool that had no result yet is run again. Not on PostgreSQL: the server ' +
      'is its own store.',
    open,
    connect,
  },
];

type Run = { run: string };

function servicesOf({ steps, modelAnswers, tool }: EnginePlace) {
  const oneStep = async (ctx: restate.Context, run: string): Promise<number> => {
    await ctx.run('model', () => askModel({ modelAnswers }));
    return await ctx.run('tool', () => tool(run));
  };
  const runs = restate.service({
    name: 'runs',
    handlers: {
      async run(ctx: restate.Context, { run }: Run): Promise<void> {
        for (let step = 0; step < steps; step++) await oneStep(ctx, run);
      },
    },
  });
  // As in its guide to agents: a virtual object for each agent, which handles one message at a time and keeps the messages.
  const agent = restate.object({
    name: 'agent',
    handlers: {
      async message(ctx: restate.ObjectContext, number: number): Promise<void> {
        const heard = (await ctx.get<unknown[]>('heard')) ?? [];
        const result = await oneStep(ctx, 'message');
        ctx.set('heard', [...heard, { number, result }]);
      },
    },
  });
  return { runs, agent };
}

type Services = ReturnType<typeof servicesOf>;

async function open(place: EnginePlace): Promise<Engine> {
  const [ingress, admin, node, own] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const { runs, agent } = servicesOf(place);
  await restate.serve({ services: [runs, agent], port: own });
  const server = startServer(place.folder, { ingress, admin, node });
  await register(`http://127.0.0.1:${admin}`, `http://127.0.0.1:${own}`);
  const address = `http://127.0.0.1:${ingress}`;
  const client = clients.connect({ url: address }).serviceClient<Services['runs']>({ name: 'runs' });
  return {
    address,
    store: { pid: server.pid ?? 0 },
    runAll: (all) => Promise.all(all.map((run) => client.run({ run }))),
    // A key without state is an agent that sleeps: there is nothing to start.
    sleepers: async (count) => Array.from({ length: count }, (_, index) => `agent-${index}-${Date.now()}`),
    close: () => stopServer(server),
  };
}

function startServer(folder: string, ports: { ingress: number; admin: number; node: number }): ChildProcess {
  const binary = createRequire(import.meta.url).resolve(
    `@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`,
  );
  return spawn(binary, ['--base-dir', folder, '--node-name', 'bench', '--listen-mode', 'tcp', '--no-logo'], {
    stdio: 'ignore',
    env: {
      ...process.env,
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_BIND_PORT: String(ports.node),
      RESTATE_INGRESS__BIND_PORT: String(ports.ingress),
      RESTATE_ADMIN__BIND_PORT: String(ports.admin),
      // Restate sends no telemetry.
      DO_NOT_TRACK: '1',
    },
  });
}

/** Retries until the server is up. */
async function register(admin: string, uri: string): Promise<void> {
  for (let attempt = 0; attempt < 120; attempt++) {
    const answer = await fetch(`${admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri }),
    }).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(500);
  }
  throw new Error('The Restate server did not take the deployment within a minute.');
}

async function stopServer(server: ChildProcess): Promise<void> {
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

async function connect(url: string): ReturnType<EngineModule['connect']> {
  const ingress = clients.connect({ url });
  return {
    send: (agent, number) => ingress.objectSendClient<Services['agent']>({ name: 'agent' }, agent).message(number),
    close: async () => {},
  };
}
