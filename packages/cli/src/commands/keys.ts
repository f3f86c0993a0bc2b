import { everyItem } from '@lastcall/client';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { Api } from '../api.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('Create, list and revoke secret keys.');
  apiOptions(keys.command('create').argument('<name>', 'what it is for'))
    .description('Create a secret key. It is shown this once.')
    .addOption(new Option('--scope <scope>', 'what it may do').choices(['read', 'write', 'admin']).default('write'))
    .option('--project <id>', 'the project that it sees (default: all for admin, otherwise "default")')
    .option('--agent <id...>', 'only these agents')
    .option('--space <id...>', 'only these spaces')
    .option('--path <operation...>', 'only these operations, e.g. "POST /chat"')
    .option('--expires <time>', 'when it stops working, e.g. 2027-01-31', time)
    .option('--rate <requests/seconds>', 'at most so many requests in so many seconds, e.g. 100/60', rate)
    .action(create);
  apiOptions(keys.command('list')).description('List the keys, without their secrets.').action(list);
  apiOptions(keys.command('revoke').argument('<id>', 'its id, from the list'))
    .description('Revoke a key. It stops working at once.')
    .action(revoke);
}

type Scope = 'read' | 'write' | 'admin';

interface NewKeyOptions extends ApiCommandOptions {
  readonly scope: Scope;
  readonly project?: string;
  readonly agent?: string[];
  readonly space?: string[];
  readonly path?: string[];
  readonly expires?: number;
  readonly rate?: { readonly requests: number; readonly seconds: number };
}

function time(text: string): number {
  const value = Date.parse(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError('It must be a time such as 2027-01-31T12:00:00Z.');
  return value;
}

function rate(text: string): NewKeyOptions['rate'] {
  const [, requests, seconds] = /^(\d{1,7})\/(\d{1,5})$/.exec(text) ?? [];
  if (requests === undefined) throw new InvalidArgumentError('It must be like 100/60.');
  return { requests: Number(requests), seconds: Number(seconds) };
}

async function create(name: string, options: NewKeyOptions): Promise<void> {
  const { url, json, scope, project, agent: agents, space: spaces, path: paths, expires: expiresAt, rate } = options;
  loadEnv(process.cwd());
  const limits = { project, agents, spaces, paths, expiresAt, rate };
  const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
  const created = await new Api({ url }).ask((client) => client.keys.create({ name, scopes: [scope], ...given }));
  if (json !== true) process.stderr.write('Shown this once:\n');
  createOutput({ json }).result(created, created.key);
}

async function list({ url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const keys = await new Api({ url }).ask((client) => everyItem((page) => client.keys.list(page)));
  const rows = keys.map(({ id, name, prefix, scopes, project = '', expiresAt = Infinity, revokedAt }) => [
    id,
    `${prefix}…`,
    scopes.join(' '),
    project,
    revokedAt === undefined ? (expiresAt <= Date.now() ? 'expired' : '') : 'revoked',
    plainLine(name),
  ]);
  createOutput({ json }).result(keys, table(rows));
}

async function revoke(id: string, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const revoked = await new Api({ url }).ask((client) => client.keys.revoke(id));
  createOutput({ json }).result(revoked, `Revoked ${plainLine(revoked.name)}.`);
}
