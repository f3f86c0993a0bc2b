import { setTimeout as sleep } from 'node:timers/promises';
import type { Notification } from '@lastcall/client';
import { type Command, Option } from 'commander';
import { Api } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

interface ListOptions extends ApiCommandOptions {
  readonly status?: Notification['status'];
  readonly target?: string;
}

export function addNotify(program: Command): void {
  const notify = program.command('notify').description('Test notification targets and list notifications.');
  apiOptions(notify.command('targets')).description('List the targets of the configuration file.').action(targets);
  apiOptions(notify.command('list'))
    .description('List notifications, newest first.')
    .addOption(new Option('--status <status>', 'only those').choices(['pending', 'sent', 'failed', 'obsolete']))
    .option('--target <name>', 'only those of this target')
    .action(list);
  apiOptions(notify.command('test').argument('<target>', 'the name of a target'))
    .description('Send a test notification, and wait until it has arrived or failed.')
    .action(test);
  apiOptions(notify.command('retry').argument('<id>', 'the id of a notification that has failed'))
    .description('Send a failed notification again.')
    .action(retry);
}

async function targets({ url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const { items } = await new Api({ url }).ask((client) => client.notifications.targets());
  const rows = items.map(({ name, channel, project, events }) => [name, channel, project, events.join(', ')]);
  createOutput({ json }).result(items, items.length === 0 ? 'There are no targets.' : table(rows));
}

async function list({ url, json, ...given }: ListOptions): Promise<void> {
  loadEnv(process.cwd());
  const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { items } = await new Api({ url }).ask((client) => client.notifications.list(filter));
  createOutput({ json }).result(items, items.length === 0 ? 'There are no notifications.' : table(items.map(rowOf)));
}

async function test(target: string, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const api = new Api({ url });
  const { id } = await api.ask((client) => client.notifications.test(target));
  const ended = await untilTried(api, id, target);
  if (ended.status !== 'sent')
    throw new CommandFailed(`The test did not arrive: ${plainLine(ended.error ?? 'no gateway has tried to send it')}`);
  createOutput({ json }).result(ended, `The test was sent to ${target}.`);
}

const MOST_LOOKS = 60;
const BETWEEN_MS = 500;

/** The first attempt tells what is wrong: later ones are made minutes later. */
async function untilTried(api: Api, id: string, target: string): Promise<Notification> {
  for (let looks = 1; ; looks++) {
    const { items } = await api.ask((client) => client.notifications.list({ target, limit: 200 }));
    const found = items.find((one) => one.id === id);
    if (found === undefined) throw new CommandFailed('The notification of the test is gone.');
    if (found.status !== 'pending' || found.error !== undefined || looks === MOST_LOOKS) return found;
    await sleep(BETWEEN_MS);
  }
}

async function retry(id: string, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const again = await new Api({ url }).ask((client) => client.notifications.retry(id));
  createOutput({ json }).result(again, `It is sent to ${again.target} again.`);
}

function rowOf({ id, createdAt, target, event, status, attempts, error }: Notification): readonly string[] {
  const shown = [id, new Date(createdAt).toISOString(), target, event, status, String(attempts), error ?? ''];
  return shown.map((text) => plainLine(text, 100));
}
