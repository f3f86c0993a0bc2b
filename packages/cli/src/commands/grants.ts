import { everyItem, type Grant } from '@lastcall/client';
import type { Command } from 'commander';
import { Api } from '../api.ts';
import { agentId } from '../eval/find-agent.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

interface ListOptions extends ApiCommandOptions {
  readonly agent?: string;
  readonly tool?: string;
  readonly all?: boolean;
}

export function addGrants(program: Command): void {
  const grants = program.command('grants').description('List and revoke grants: approvals that were given in advance.');
  apiOptions(grants.command('list'))
    .description('List the grants that cover calls now.')
    .option('--agent <agent>', 'only grants of this agent, by name or id')
    .option('--tool <name>', 'only grants for this tool')
    .option('--all', 'also grants that have ended')
    .action(list);
  apiOptions(grants.command('revoke').argument('<id>', 'its id'))
    .description('Revoke a grant: the next call waits for approval again.')
    .action(revoke);
}

async function list({ url, json, agent, tool, all }: ListOptions): Promise<void> {
  loadEnv(process.cwd());
  const query = {
    ...(tool === undefined ? {} : { toolName: tool }),
    ...(all === true ? {} : { status: 'active' as const }),
  };
  const grants = await new Api({ url }).ask(async (client) => {
    const ofAgent = agent === undefined ? {} : { agentId: await agentId(client, agent) };
    return await everyItem((page) => client.grants.list({ ...query, ...ofAgent, ...page }));
  });
  const rows = grants.map((one) => [
    one.id,
    plainLine(one.toolName),
    one.agentId,
    lastsInWords(one),
    conditionsOf(one),
    one.uses === 1 ? '1 use' : `${one.uses} uses`,
  ]);
  createOutput({ json }).result(grants, grants.length === 0 ? 'There are no grants.' : table(rows));
}

async function revoke(id: string, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const grant = await new Api({ url }).ask((client) => client.grants.revoke(id));
  const words =
    grant.endReason === 'revoked' ? `Revoked the grant ${grant.id}.` : `The grant ${grant.id} had ended before.`;
  createOutput({ json }).result(grant, words);
}

function lastsInWords({ for: length, expiresAt, status, endReason }: Grant): string {
  if (status === 'ended') return `ended: ${endReason?.replaceAll('_', ' ') ?? ''}`;
  if (length === 'hour' && expiresAt !== undefined) return `until ${new Date(expiresAt).toISOString()}`;
  return length === 'run' ? 'for its run' : length;
}

function conditionsOf({ conditions }: Grant): string {
  if (conditions.length === 0) return 'any input';
  const words = conditions.map(({ field, ...tests }) => `${field} ${JSON.stringify(tests)}`);
  return plainLine(words.join(', '));
}
