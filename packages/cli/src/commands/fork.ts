import { type Client, everyItem, type ForkChanges, type PendingCall, type Run } from '@lastcall/client';
import { type Command, InvalidArgumentError } from 'commander';
import { Api } from '../api.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { exitCodeOf, stopInWords } from '../stop-in-words.ts';
import { createOutput } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addFork(program: Command): void {
  apiOptions(program.command('fork').argument('<run>', 'the id of a run'))
    .description('Continue a run from one of its steps, with changes, in a new conversation. Print its response.')
    .requiredOption('--at <step>', 'the step that is done again', toStep)
    .option('--with-message <text>', 'add a message before the step')
    .option('--instructions <text>', "use these instructions in place of the agent's")
    .option('--model <name>', "use this model in place of the agent's")
    .option('--node <name>', 'give the instructions and the model to this node of a machine')
    .option('--settings <json>', 'ask the model with these settings, e.g. \'{"temperature":0}\'', toObject)
    .option('--outcome <call=json>', 'give a call this result; can be repeated', addOutcome, {})
    .option('--tools <name...>', "offer these tools in place of the agent's")
    .addHelpText('after', HELP)
    .action(fork);
}

interface ForkOptions extends ApiCommandOptions {
  readonly at: number;
  readonly withMessage?: string;
  readonly instructions?: string;
  readonly model?: string;
  readonly node?: string;
  readonly settings?: ForkChanges['settings'];
  readonly outcome: NonNullable<ForkChanges['outcomes']>;
  readonly tools?: string[];
}

async function fork(runId: string, options: ForkOptions): Promise<void> {
  const { url, json, at: atStep } = options;
  loadEnv(process.cwd());
  const api = new Api({ url });
  const forked = await api.ask((client) => client.runs.fork(runId, { atStep, changes: changesOf(options) }));
  process.stderr.write(`Forked at step ${atStep}, as run ${forked.runId}.\n`);
  const run = await api.ask((client) => endOf(client, forked.runId));
  const waiting = await api.ask((client) => waitingIn(client, run));
  createOutput({ json }).result({ ...forked, run, waiting }, run.response ?? '');
  sayWhy(run, waiting);
  process.exitCode = run.stop === undefined ? EXIT.failed : exitCodeOf(run.stop);
}

function changesOf({ withMessage, instructions, model, node, settings, outcome, tools }: ForkOptions): ForkChanges {
  const hasOutcomes = Object.keys(outcome).length > 0;
  const asked = {
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
  };
  if (node !== undefined && Object.keys(asked).length === 0)
    throw new CommandFailed('--node needs --instructions or --model.', { exitCode: EXIT.usage });
  return {
    ...(withMessage === undefined ? {} : { message: withMessage }),
    ...(node === undefined ? asked : { nodes: { [node]: asked } }),
    ...(settings === undefined ? {} : { settings }),
    ...(hasOutcomes ? { outcomes: outcome } : {}),
    ...(tools === undefined ? {} : { tools }),
  };
}

export async function endOf(client: Client, runId: string): Promise<Run> {
  for await (const { type } of client.runs.stream(runId, { after: 0 })) if (type === 'run.end') break;
  return await client.runs.get(runId);
}

export async function waitingIn(client: Client, { id, agentId }: Run): Promise<readonly PendingCall[]> {
  const calls = await everyItem((page) => client.pending.list({ ...page, agentId }));
  return calls.filter(({ runId }) => runId === id);
}

function sayWhy({ id, stop }: Run, waiting: readonly PendingCall[]): void {
  for (const { callId, toolName, input } of waiting)
    process.stderr.write(
      `${plainLine(toolName)} ${plainLine(JSON.stringify(input), 200)} waits as call ${callId}: the original has no outcome of such a call.\n`,
    );
  if (stop === undefined || exitCodeOf(stop) === EXIT.done) return;
  process.stderr.write(`Stopped: ${stopInWords(stop)}. See: lastcall replay ${id}\n`);
}

function toStep(text: string): number {
  const step = Number(text);
  if (!Number.isInteger(step) || step < 1) throw new InvalidArgumentError('It must be a whole number from 1.');
  return step;
}

function toObject(text: string): ForkChanges['settings'] {
  const value = fromJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('It must be a JSON object.');
  return value as ForkChanges['settings'];
}

function addOutcome(text: string, before: ForkOptions['outcome']): ForkOptions['outcome'] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be the id of a call, "=", and a JSON value.');
  return { ...before, [text.slice(0, at)]: { result: fromJson(text.slice(at + 1)) } };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandFailed(`${plainLine(text, 100)} is not JSON. Quote a text twice: '"like this"'.`, {
      exitCode: EXIT.usage,
      cause,
    });
  }
}

const HELP = `
Example: lastcall fork 019a2b7c-41d8-7e52-9c06-3f8b1e0d5a94 --at 3 --with-message "Check the total first."

Calls that the run made with the same input get the recorded outcome. Others run only if their tool has no effects
outside; the rest wait for an answer. Nothing is posted in spaces, and the run itself stays as it is. The exit code says
why the fork stopped, as for "lastcall run".`;
