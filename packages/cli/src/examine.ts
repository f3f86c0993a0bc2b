import { createServer } from 'node:net';
import { basename } from 'node:path';
import { everyItem } from '@lastcall/client';
import {
  type Config,
  checkConfig,
  checkConfiguredBucket,
  checkStore,
  demoConfig,
  loadConfig,
  modelFinder,
  readEnv,
  resolveSettings,
  type Settings,
} from '@lastcall/gateway/internal';
import { Api } from './api.ts';
import type { CommandFailed } from './exit-code.ts';
import { redactEnv } from './redact-env.ts';

export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly text: string;
}

/** Checks everything that a gateway of this folder needs, and the gateway itself if it runs. */
export async function examine({
  folder,
  url,
}: {
  folder: string;
  url: string | undefined;
}): Promise<readonly Finding[]> {
  const findings: Finding[] = [{ level: 'ok', text: `node ${process.versions.node}` }];
  const read = await readConfig(folder);
  findings.push(read.finding);
  if (read.setup === undefined) return findings;
  const { config, settings } = read.setup;
  const env = { ...process.env, HOST: settings.host, PORT: String(settings.port) };
  const api = new Api({ url, env });
  const own = new Api({ env: { ...env, LASTCALL_URL: undefined } });
  findings.push(await store(settings));
  findings.push(...(await bucket(config, settings)));
  findings.push(...(await models(config, settings)));
  findings.push(...(await gateway(api, api.url === own.url ? settings : undefined)));
  return findings;
}

interface Setup {
  readonly config: Config;
  readonly settings: Settings;
}

async function readConfig(folder: string): Promise<{ finding: Finding; setup?: Setup }> {
  try {
    const { file, config } = await loadConfig(folder);
    const used = file === undefined ? checkConfig(demoConfig()) : config;
    const setup = { config: used, settings: resolveSettings(readEnv(process.env, used), used) };
    if (file === undefined)
      return { setup, finding: { level: 'warn', text: 'no lastcall.config.ts here, so the demo runs: lastcall init' } };
    return { setup, finding: { level: 'ok', text: `configuration ${basename(file)}` } };
  } catch (error) {
    return { finding: { level: 'fail', text: messageOf(error) } };
  }
}

async function store(settings: Settings): Promise<Finding> {
  try {
    const state = await checkStore(settings);
    const name = settings.databaseUrl === undefined ? `SQLite in ${settings.home}` : 'PostgreSQL';
    return { level: 'ok', text: state === 'ok' ? `store ${name}` : `store ${name}, in use by a gateway` };
  } catch (error) {
    return { level: 'fail', text: messageOf(error) };
  }
}

async function bucket(config: Config, settings: Settings): Promise<readonly Finding[]> {
  try {
    const name = await checkConfiguredBucket({ config, settings, env: process.env });
    return name === undefined ? [] : [{ level: 'ok', text: `bucket ${name}` }];
  } catch (error) {
    return [{ level: 'fail', text: messageOf(error) }];
  }
}

async function models({ agents, models: own }: Config, { model, modelUrl }: Settings): Promise<readonly Finding[]> {
  const finder = modelFinder({ model, modelUrl, models: own, env: process.env });
  const { name, why } = await finder.default;
  const problems = await finder.problems(agents.map((agent) => agent.model));
  const chosen = `model ${name} (${why})`;
  if (problems.length === 0) return [{ level: 'ok', text: chosen }];
  return problems.map((text) => ({ level: 'fail', text }) as const);
}

/** `own` is set for the gateway of this folder. The port of another one tells nothing. */
async function gateway(api: Api, own: Settings | undefined): Promise<readonly Finding[]> {
  const health = await api
    .ask((client) => client.status.health())
    .then(
      () => true,
      ({ status }: CommandFailed) => (status === undefined ? undefined : false),
    );
  if (health === true) return [{ level: 'ok', text: `gateway answers at ${api.url}` }, ...(await deadEvents(api))];
  if (own === undefined) {
    const who = health === undefined ? 'no gateway' : 'another program';
    return [
      { level: 'fail', text: `${who} answers at ${api.url}: correct --url or LASTCALL_URL, or start that gateway` },
    ];
  }
  const { host, port } = own;
  if (health === undefined && (port === 0 || (await isFree(host, port))))
    return [{ level: 'warn', text: `no gateway answers at ${api.url}: lastcall start` }];
  return [{ level: 'fail', text: `another program uses port ${port}: stop it, or set PORT to another port` }];
}

async function isFree(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer()
    .once('error', () => resolve(false))
    .listen(port, host, () => server.close(() => resolve(true)));
  return await promise;
}

/** Dead events: every attempt to handle them failed, and they wait for an operator. */
async function deadEvents(api: Api): Promise<readonly Finding[]> {
  if (!api.hasKey)
    return [{ level: 'warn', text: 'set LASTCALL_SECRET_KEY, here or in .env, to have the agents checked too' }];
  try {
    const findings: Finding[] = [];
    for (const { id, name } of await api.ask((client) => everyItem((page) => client.agents.list(page)))) {
      const events = await api.ask((client) =>
        everyItem((page) => client.agents.inbox(id, { ...page, status: 'dead' })),
      );
      const dead = events.length;
      if (dead > 0)
        findings.push({
          level: 'warn',
          text: `${dead} dead event${dead === 1 ? '' : 's'} of ${name}: GET ${api.url}/api/agents/${id}/inbox?status=dead`,
        });
    }
    return findings.length > 0 ? findings : [{ level: 'ok', text: 'no dead events in inboxes of agents' }];
  } catch (error) {
    return [{ level: 'fail', text: messageOf(error) }];
  }
}

function messageOf(error: unknown): string {
  return redactEnv(error instanceof Error ? error.message : String(error));
}
