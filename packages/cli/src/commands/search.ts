import type { SearchResult } from '@lastcall/client';
import { type Command, Option } from 'commander';
import { Api } from '../api.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';
import { wholeNumber } from './whole-number.ts';

interface SearchOptions extends ApiCommandOptions {
  readonly kind?: SearchResult['kind'];
  readonly limit: number;
}

export function addSearch(program: Command): void {
  apiOptions(program.command('search').argument('<words...>', 'words, "phrases" and prefix*: all have to occur'))
    .description('Search messages, and inputs, outputs and errors of runs, newest first.')
    .addOption(new Option('--kind <kind>', 'only texts of this kind').choices(['message', 'input', 'output', 'error']))
    .option('--limit <number>', 'how many results, at most 200', wholeNumber(1, 200), 20)
    .action(search);
}

async function search(words: readonly string[], { url, json, kind, limit }: SearchOptions): Promise<void> {
  loadEnv(process.cwd());
  const query = { q: toQuery(words), limit, ...(kind === undefined ? {} : { kind }) };
  const found = await new Api({ url }).ask((client) => client.search(query));
  const rows = found.items.map((one) => [new Date(one.at).toISOString(), one.kind, placeOf(one), textOf(one)]);
  createOutput({ json }).result(found, rows.length === 0 ? 'Nothing was found.' : table(rows));
}

/** The shell has removed the quotation marks around a phrase, and left it as one argument. */
function toQuery(words: readonly string[]): string {
  return words.map((word) => (/\s/.test(word) && !word.includes('"') ? `"${word}"` : word)).join(' ');
}

function placeOf({ runId, callId, spaceId, seq, toolName, trial }: SearchResult): string {
  const of = trial === undefined ? '' : ` of a ${trial.kind}`;
  if (callId !== undefined) return `call ${callId} (${plainLine(toolName ?? '')})${of}`;
  if (spaceId !== undefined) return `space ${spaceId}, message ${seq}`;
  return `run ${runId}${of}`;
}

function textOf({ snippet }: SearchResult): string {
  return plainLine(snippet.map(({ text }) => text).join(''));
}
