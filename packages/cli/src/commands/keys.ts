import type { Command } from 'commander';
import { Option } from 'commander';
import { Api, listAll } from '../api.ts';
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

async function create(name: string, { url, json, scope }: ApiCommandOptions & { scope: string }): Promise<void> {
  loadEnv(process.cwd());
  const created = await new Api({ url }).post('/api/keys', { name, scopes: [scope] });
  if (json !== true) process.stderr.write('Shown this once:\n');
  createOutput({ json }).result(created, created.key);
}

async function list({ url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const keys = await listAll(new Api({ url }), '/api/keys');
  const rows = keys.map(({ id, name, prefix, scopes, revokedAt }) => [
    String(id),
    `${prefix}…`,
    (scopes as string[]).join(' '),
    revokedAt === undefined ? '' : 'revoked',
    plainLine(String(name)),
  ]);
  createOutput({ json }).result(keys, table(rows));
}

async function revoke(id: string, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const revoked = await new Api({ url }).delete(`/api/keys/${encodeURIComponent(id)}`);
  createOutput({ json }).result(revoked, `Revoked ${plainLine(revoked.name)}.`);
}
