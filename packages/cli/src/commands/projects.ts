import { everyItem, type Project } from '@lastcall/client';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { Api } from '../api.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

interface ProjectOptions extends ApiCommandOptions {
  readonly name?: string;
  readonly perDay?: number;
  readonly perDayTokens?: number;
}

export function addProjects(program: Command): void {
  const projects = program.command('projects').description('Create, list, change and delete projects.');
  apiOptions(projects.command('list')).description('List the projects that the key sees.').action(list);
  changeable(projects.command('create').argument('<id>', 'its id, e.g. acme'))
    .description('Create a project.')
    .action(create);
  changeable(projects.command('update').argument('<id>', 'its id'))
    .description('Change the name or the spend limits of a project.')
    .option('--no-limits', 'remove its spend limits, except those that are given')
    .action(update);
  apiOptions(projects.command('delete').argument('<id>', 'its id'))
    .description('Delete a project that has nothing in it.')
    .action(remove);
}

function changeable(command: Command): Command {
  return apiOptions(command)
    .option('--name <name>', 'a name for people')
    .option('--per-day <money>', 'what all its agents may spend on a day, in the currency of prices', amount)
    .option('--per-day-tokens <count>', 'the tokens that all its agents may use on a day', amount);
}

function amount(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

async function list({ url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const projects = await new Api({ url }).ask((client) => everyItem((page) => client.projects.list(page)));
  const rows = projects.map((one) => [one.id, plainLine(one.name), limitsInWords(one)]);
  createOutput({ json }).result(projects, table(rows));
}

async function create(id: string, { url, json, name, ...limits }: ProjectOptions): Promise<void> {
  loadEnv(process.cwd());
  const spend = spendOf(limits);
  const project = { id, ...(name === undefined ? {} : { name }), ...(spend === undefined ? {} : { spend }) };
  const created = await new Api({ url }).ask((client) => client.projects.create(project));
  createOutput({ json }).result(created, `Created the project ${created.id}.`);
}

async function update(
  id: string,
  { url, json, name, limits, ...given }: ProjectOptions & { readonly limits: boolean },
): Promise<void> {
  loadEnv(process.cwd());
  const wanted = spendOf(given);
  if (name === undefined && wanted === undefined && limits)
    throw new CommandFailed('Say what to change, with --name, --per-day, --per-day-tokens or --no-limits.', {
      exitCode: EXIT.usage,
    });
  const updated = await new Api({ url }).ask(async (client) => {
    // The limits of a project are replaced together. One that is not named stays, in its currency.
    const { currency, ...before } = (limits && wanted !== undefined && (await client.projects.get(id)).spend) || {};
    const kept = currency === undefined || wanted?.perDay !== undefined ? before : { ...before, currency };
    const spend = wanted === undefined ? (limits ? undefined : null) : { ...kept, ...wanted };
    return await client.projects.update(id, {
      ...(name === undefined ? {} : { name }),
      ...(spend === undefined ? {} : { spend }),
    });
  });
  createOutput({ json }).result(updated, `Changed the project ${updated.id}.`);
}

async function remove(id: string, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const deleted = await new Api({ url }).ask((client) => client.projects.delete(id));
  createOutput({ json }).result(deleted, `Deleted the project ${deleted.id}.`);
}

function spendOf({ perDay, perDayTokens }: NonNullable<Project['spend']>): Project['spend'] {
  if (perDay === undefined && perDayTokens === undefined) return undefined;
  return { ...(perDay === undefined ? {} : { perDay }), ...(perDayTokens === undefined ? {} : { perDayTokens }) };
}

function limitsInWords({ spend = {} }: Project): string {
  const { perDay, perDayTokens, currency = '' } = spend;
  return [
    ...(perDay === undefined ? [] : [`${perDay} ${currency} a day`.replace('  ', ' ')]),
    ...(perDayTokens === undefined ? [] : [`${perDayTokens} tokens a day`]),
  ].join(', ');
}
