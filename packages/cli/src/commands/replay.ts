import { everyItem, type Run } from '@lastcall/client';
import type { Command } from 'commander';
import { Api } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { timelineInWords } from '../timeline-in-words.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addReplay(program: Command): void {
  apiOptions(program.command('replay').argument('[run]', 'the id of a run (default: the newest)'))
    .description('Print what happened in a run: its steps, its calls with their outcomes, and why it stopped.')
    .action(replay);
}

async function replay(runId: string | undefined, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const api = new Api({ url });
  const run = runId === undefined ? await newestRun(api) : await api.ask((client) => client.runs.get(runId));
  const entries = await api.ask((client) => everyItem((page) => client.runs.transcript(run.id, page)));
  createOutput({ json }).result({ run, entries }, timelineInWords(run, entries));
}

async function newestRun(api: Api): Promise<Run> {
  const [newest] = (await api.ask((client) => client.runs.list({ limit: 1 }))).items;
  if (newest === undefined)
    throw new CommandFailed('There is no run yet. A run begins when something arrives for an agent.');
  return newest;
}
