import { readFile, writeFile } from 'node:fs/promises';
import type { Client } from '@lastcall/client';
import type { EvalCase } from '@lastcall/core/eval';
import { type Command, Option } from 'commander';
import { Api } from '../api.ts';
import { freeName } from '../eval/stored-cases.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { makeFolderOf } from '../make-folder-of.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

interface AddOptions extends ApiCommandOptions {
  readonly file: string;
  readonly evaluation?: string;
  readonly name?: string;
  readonly expected?: string;
}

export function addEvalAdd(command: Command): void {
  apiOptions(command.command('add').argument('<run>', 'the id of a run that ended'))
    .description('Make a case of a run: what was asked, and what is expected. Its calls get the recorded outcomes.')
    .option('--file <file>', 'the file with the cases', 'cases.json')
    .addOption(
      new Option('--evaluation <name>', 'store it in the gateway, in this evaluation, in place of a file').conflicts(
        'file',
      ),
    )
    .option('--name <name>', 'the name of the case (default: the first words of what was asked)')
    .option('--expected <text>', 'what is expected (default: the response of the run)')
    .addHelpText('after', HELP)
    // The options that "eval" has too are found there.
    .action((run: string, _own: object, command: Command) => add(run, command.optsWithGlobals()));
}

async function add(runId: string, options: AddOptions): Promise<void> {
  loadEnv(process.cwd());
  const api = new Api({ url: options.url });
  if (options.evaluation === undefined) await addToFile(api, runId, options);
  else await addToGateway(api, { runId, ...options, evaluation: options.evaluation });
}

interface StoredCase extends Pick<AddOptions, 'json' | 'name' | 'expected'> {
  readonly runId: string;
  readonly evaluation: string;
}

async function addToGateway(api: Api, { runId, evaluation, json, name, expected }: StoredCase): Promise<void> {
  const added = await api.ask(async ({ evaluations }) => {
    const { id } = await evaluations.open(evaluation);
    return await evaluations.addCase(id, { runId, name, expected });
  });
  createOutput({ json }).result(added, `Added "${added.name}" to the evaluation "${evaluation}".`);
}

async function addToFile(api: Api, runId: string, { json, file, name, expected }: AddOptions): Promise<void> {
  const { input, response } = await api.ask((client) => readRun(client, runId));
  const cases = await readCases(file);
  const added: EvalCase = {
    name: freeName(name ?? plainLine(input, 60), cases),
    input,
    expected: expected ?? response,
    run: runId,
  };
  await makeFolderOf(file);
  await writeFile(file, `${JSON.stringify([...cases, added], undefined, 2)}\n`);
  createOutput({ json }).result(added, `Added "${added.name}" to ${file} as case ${cases.length + 1}.`);
}

async function readRun(
  { runs }: Client,
  runId: string,
): Promise<{ readonly input: string; readonly response: string }> {
  const [run, { items }] = await Promise.all([runs.get(runId), runs.transcript(runId)]);
  if (run.status !== 'completed')
    throw new CommandFailed(`Run ${runId} is ${run.status}. Only a run that is completed can be a case.`);
  const asked = items.flatMap(({ entry }) => (entry.kind === 'message' ? textsOf(entry.message) : []));
  const text = asked.join('\n').trim() || run.trigger.map(({ text: said = '' }) => said).join('\n');
  return { input: text, response: run.response ?? '' };
}

/** The texts of people: of a message, or of the events of an inbox. */
function textsOf(message: unknown): readonly string[] {
  const { role, content } = message as { readonly role?: unknown; readonly content?: unknown };
  if (role !== 'user' || !Array.isArray(content)) return [];
  return content.flatMap((part: { type?: unknown; text?: unknown; events?: unknown }) => {
    if (part.type === 'text' && typeof part.text === 'string') return [part.text];
    const events = (Array.isArray(part.events) ? part.events : []) as { data?: { text?: unknown } }[];
    return events.flatMap(({ data }) => (typeof data?.text === 'string' ? [data.text] : []));
  });
}

async function readCases(file: string): Promise<readonly EvalCase[]> {
  const text = await readFile(file, 'utf8').catch(() => '[]');
  try {
    const cases: unknown = JSON.parse(text);
    if (Array.isArray(cases)) return cases as EvalCase[];
  } catch {
    // The error below says what to do.
  }
  throw new CommandFailed(`${file} is not a list of cases. Name another file with --file.`, { exitCode: EXIT.usage });
}

const HELP = `
An evaluation reads the file:

  import { contains, evaluate } from '@lastcall/core/eval';
  import cases from './cases.json' with { type: 'json' };

  await evaluate({ agent: 'Desk', cases, scores: { answer: contains() } });

With --evaluation Desk, the gateway keeps the case, and the evaluation names it: cases: 'Desk'.
Each case is a fork of its run with the agent's configuration of today. Calls that the run made get the recorded outcomes,
and none acts outside. "lastcall eval --instructions draft.md" tries other instructions before you save them.`;
