import type { UsageItem } from '@lastcall/client';
import { type Command, InvalidArgumentError } from 'commander';
import { Api } from '../api.ts';
import { agentId } from '../eval/find-agent.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

interface UsageOptions extends ApiCommandOptions {
  readonly by: string;
  readonly from?: string;
  readonly to?: string;
  readonly agent?: string;
}

export function addUsage(program: Command): void {
  apiOptions(program.command('usage'))
    .description('Show what models were asked, and what it cost.')
    .option('--by <keys>', 'what it is added up by: agent, model, day, entity, kind', toKeys, 'day,agent')
    .option('--from <day>', 'the first day, e.g. 2026-01-31, in UTC (default: 29 days before the last)', toDay)
    .option('--to <day>', 'the last day (default: today)', toDay)
    .option('--agent <agent>', 'only this agent, by name or id')
    .addHelpText('after', '\nExample: lastcall usage --by model,kind --from 2026-01-01')
    .action(show);
}

async function show({ url, json, by, from, to, agent }: UsageOptions): Promise<void> {
  loadEnv(process.cwd());
  const query = { by, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const report = await new Api({ url }).ask(async (client) =>
    client.usage.get({ ...query, ...(agent === undefined ? {} : { agentId: await agentId(client, agent) }) }),
  );
  createOutput({ json }).result(report, usageInWords(report));
}

const KEYS = ['agent', 'model', 'day', 'entity', 'kind'];

function toKeys(text: string): string {
  const keys = text.split(',');
  if (!keys.every((key) => KEYS.includes(key)))
    throw new InvalidArgumentError(`It must list some of ${KEYS.join(', ')}, separated by commas.`);
  return text;
}

function toDay(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('It must be a day such as 2026-01-31, in UTC.');
  return text;
}

interface Report {
  readonly from: string;
  readonly to: string;
  readonly items: readonly UsageItem[];
  readonly truncated?: true | undefined;
}

function usageInWords({ from, to, items, truncated }: Report): string {
  const days = `${from} to ${to} (UTC)`;
  if (items.length === 0) return `No model was asked from ${days}.`;
  const rows = items.map((item) => [...keysOf(item), ...amountsOf(item)]);
  const isEstimated = items.some(({ estimated }) => estimated);
  const isUnpriced = items.some(({ cost }) => cost === null);
  return [
    `From ${days}:`,
    table(rows),
    ...(isEstimated ? ['~ A provider counted no tokens, so the gateway estimated them.'] : []),
    ...(isUnpriced ? ['? The price of a model is not configured: see prices in the configuration.'] : []),
    ...(truncated === true ? ['There is more. Ask for fewer days, or for fewer keys.'] : []),
  ].join('\n');
}

function keysOf({ day, agent, agentName, model, entity, entityName, kind }: UsageItem): readonly string[] {
  const who = entity === undefined ? undefined : (entityName ?? entity ?? 'no person');
  return [day, agentName ?? agent, model, who, kind].flatMap((key) => (key === undefined ? [] : [plainLine(key, 40)]));
}

function amountsOf(item: UsageItem): readonly string[] {
  const { requests, inputTokens, cachedTokens, outputTokens, cost, currency, estimated } = item;
  const count = (amount: number): string => `${estimated ? '~' : ''}${amount.toLocaleString('en')}`;
  return [
    `${requests.toLocaleString('en')} ${requests === 1 ? 'request' : 'requests'}`,
    `${count(inputTokens)} in`,
    `${count(cachedTokens)} cached`,
    `${count(outputTokens)} out`,
    cost === null
      ? '?'
      : `${estimated ? '~' : ''}${cost.toLocaleString('en', { maximumFractionDigits: 6 })} ${currency}`,
  ];
}
