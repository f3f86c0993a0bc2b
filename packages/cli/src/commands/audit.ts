import type { AuditEntry, Client } from '@lastcall/client';
import { type Command, InvalidArgumentError } from 'commander';
import { Api } from '../api.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

interface AuditOptions extends ApiCommandOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly from?: number;
  readonly to?: number;
  readonly jsonl?: boolean;
}

export function addAudit(program: Command): void {
  apiOptions(program.command('audit'))
    .description('Show who changed what, newest first.')
    .option('--actor <id>', 'only what this key, person or session did')
    .option('--action <name>', 'only this operation, e.g. post_agents')
    .option('--subject <id>', 'only changes of this agent, space, person, …')
    .option('--from <time>', 'the first time, e.g. 2026-01-31 or 2026-01-31T12:00Z', timeOf)
    .option('--to <time>', 'only entries before this time', timeOf)
    .option('--jsonl', 'print all entries as JSON lines, not only the newest 50')
    .addHelpText('after', '\nExample: lastcall audit --from 2026-01-01 --jsonl > audit.jsonl')
    .action(show);
}

function timeOf(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a time such as 2026-01-31 or 2026-01-31T12:00Z.');
  return time;
}

async function show({ url, json, jsonl, ...given }: AuditOptions): Promise<void> {
  loadEnv(process.cwd());
  const api = new Api({ url });
  const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (jsonl === true) return await printAll(api, filter);
  const { items } = await api.ask((client) => client.audit.list(filter));
  const words = items.length === 0 ? 'There are no entries.' : table(items.map(rowOf));
  createOutput({ json }).result(items, words);
}

/** Page by page, so that a long list is not held in memory. */
async function printAll(api: Api, filter: Parameters<Client['audit']['list']>[0]): Promise<void> {
  for (let cursor: string | undefined; ; ) {
    const page = { ...filter, limit: 200, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await api.ask((client) => client.audit.list(page));
    for (const item of items) createOutput({ json: true }).result(item, '');
    cursor = next;
    if (cursor === undefined) return;
  }
}

function rowOf({ at, actor, action, subject, address, project }: AuditEntry): readonly string[] {
  const key = actor.operator === true ? 'operator' : (actor.keyName ?? actor.keyId);
  const who = [key, actor.entityId].filter((one) => one !== undefined).join(' for ');
  const what = subject === undefined ? '' : `${subject.kind} ${subject.id}`;
  const shown = [new Date(at).toISOString(), project, who || 'no credentials', action, what, address ?? ''];
  return shown.map((text) => plainLine(text, 80));
}
