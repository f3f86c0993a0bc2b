import type { Command } from 'commander';
import { Api, listAll } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { type Run, type RunEntry, timeline } from '../timeline.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addReplay(program: Command): void {
  apiOptions(program.command('replay').argument('[run]', 'the id of a run (default: the newest)'))
    .description('Print what happened in a run: its steps, its calls with their outcomes, and why it stopped.')
    .action(replay);
}

async function replay(runId: string | undefined, { url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const api = new Api({ url });
  const run =
    runId === undefined ? await newestRun(api) : ((await api.get(`/api/runs/${encodeURIComponent(runId)}`)) as Run);
  const entries = await listAll(api, `/api/runs/${run.id}/transcript`);
  createOutput({ json }).result({ run, entries }, timeline(run, entries as unknown as readonly RunEntry[]));
}

async function newestRun(api: Api): Promise<Run> {
  const { items } = (await api.get('/api/runs?limit=1')) as { items: readonly Run[] };
  const [newest] = items;
  if (newest === undefined)
    throw new CommandFailed('There is no run yet. A run begins when something arrives for an agent.');
  return newest;
}
