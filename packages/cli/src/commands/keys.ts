import { everyItem } from '@lastcall/client';
import type { Command } from 'commander';
import { Option } from 'commander';
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
    .action(create);
  apiOptions(keys.command('list')).description('List the keys, without their secrets.').action(list);
  apiOptions(keys.command('revoke').argument('<id>', 'its id, from the list'))
    .description('Revoke a key. It stops working at once.')
    .action(revoke);
}

type Scope = 'read' | 'write' | 'admin';

async function create(name: string, { url, json, scope }: ApiCommandOptions & { scope: Scope }): Promise<void> {
  loadEnv(process.cwd());
  const created = await new Api({ url }).ask((client) => client.keys.create({ name, scopes: [scope] }));
  if (json !== true) process.stderr.write('Shown this once:\n');
  createOutput({ json }).result(created, created.key);
}

async function list({ url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const keys = await new Api({ url }).ask((client) => everyItem((page) => client.keys.list(page)));
  const rows = keys.map(({ id, name, prefix, scopes, revokedAt }) => [
    id,
    `${prefix}…`,
    scopes.join(' '),
    revokedAt === undefined ? '' : 'revoked',
    plainLine(name),
  ]);
  createOutput({ json }).result(keys, table(rows));
}

async function revoke(id: string, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const revoked = await new Api({ url }).ask((client) => client.keys.revoke(id));
  createOutput({ json }).result(revoked, `Revoked ${plainLine(revoked.name)}.`);
}
