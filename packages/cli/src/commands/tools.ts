import { everyItem, type Outcome } from '@lastcall/client';
import { callStatus } from '@lastcall/client/timeline';
import type { Command } from 'commander';
import { Api } from '../api.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { duration } from '../terminal/duration.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { table } from '../terminal/table.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addTools(program: Command): void {
  const tools = program.command('tools').description('List tools, and try one.');
  apiOptions(tools.command('list')).description('List the tools of the gateway.').action(list);
  apiOptions(
    tools
      .command('test')
      .argument('<name>', 'the name or id of the tool')
      .argument('[input]', 'its input, as JSON', '{}'),
  )
    .description('Call a tool once, for real, and print how the call ended.')
    .option('--approve', 'approve the call, if the tool needs that, and run it at once')
    .addHelpText(
      'after',
      `\nExample: lastcall tools test fetch_weather '{"city":"Tokyo"}'\nThe exit code is 1 if the call failed, 11 if an agent's call would wait for an answer.`,
    )
    .action(test);
}

async function list({ url, json }: ApiCommandOptions): Promise<void> {
  loadEnv(process.cwd());
  const tools = await new Api({ url }).ask((client) => everyItem((page) => client.tools.list(page)));
  const rows = tools.map(({ name, source, description }) => [name, source, plainLine(description ?? '', 80)]);
  createOutput({ json }).result(tools, table(rows));
}

async function test(
  name: string,
  input: string,
  { url, json, approve }: ApiCommandOptions & { approve?: boolean },
): Promise<void> {
  loadEnv(process.cwd());
  const trial = { input: parseInput(input), ...(approve === true ? { approve } : {}) };
  const settlement = await new Api({ url }).ask((client) => client.tools.test(name, trial));
  const { outcome, startedAt, endedAt } = settlement;
  const status = callStatus(outcome);
  const took = duration(endedAt - startedAt);
  createOutput({ json }).result(
    settlement,
    [status, status === 'error' && outcome.status === 'error' ? outcome.code : '', took, outcomeInWords(outcome)]
      .filter(Boolean)
      .join(' '),
  );
  process.exitCode = outcome.status === 'ok' ? EXIT.done : outcome.status === 'pending' ? EXIT.waiting : EXIT.failed;
}

/** The text of a waiting call is for models and says that its outcome comes later. A test has no later outcome: it asks no person. */
function outcomeInWords(outcome: Outcome): string {
  if (outcome.status === 'ok') return JSON.stringify(outcome.value ?? null);
  if (outcome.status !== 'pending') return plainLine(outcome.text, 1_000);
  return outcome.kind === 'approval'
    ? 'The tool needs approval, so it did not run. To approve the call and run it at once, add --approve.'
    : 'The call of an agent would wait here for an answer. A test does not ask for one.';
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `The input is not JSON (${(cause as Error).message}). Write it in single quotes: '{"city":"Tokyo"}'`;
    throw new CommandFailed(message, { exitCode: EXIT.usage, cause });
  }
}
