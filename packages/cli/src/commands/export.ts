import type { Command } from 'commander';
import { Api } from '../api.ts';
import { loadEnv } from '../load-env.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addExport(program: Command): void {
  apiOptions(program.command('export').argument('<person>', 'the id of the person'))
    .description('Print the data of a person as JSON lines, with or without --json.')
    .addHelpText('after', '\nExample: lastcall export 01997d7c-… > person.jsonl')
    .action(print);
}

async function print(person: string, { url }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const path = `/api/export?entityId=${encodeURIComponent(person)}`;
  await new Api({ url }).download(path, process.stdout);
}
