import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Erasure } from '@lastcall/client';
import { Argument, type Command } from 'commander';
import { Api } from '../api.ts';
import { CommandFailed, EXIT } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

interface EraseOptions extends ApiCommandOptions {
  readonly yes?: boolean;
}

type Kind = 'person' | 'space' | 'context' | 'agent';

const ORDERS: Readonly<Record<Kind, (client: Client, id: string) => Promise<Erasure>>> = {
  person: (client, id) => client.entities.delete(id),
  space: (client, id) => client.spaces.delete(id),
  context: (client, id) => client.conversations.erase(id),
  agent: (client, id) => client.agents.erase(id),
};

const MEANING: Readonly<Record<Kind, string>> = {
  person: 'Everything that this person wrote is erased, with all copies',
  space: 'This space is deleted, and its messages are erased, with all copies',
  context: 'This conversation is deleted, and its texts are erased, with all copies',
  agent: 'This agent is deleted, and everything that it wrote is erased',
};

export function addErase(program: Command): void {
  const kind = new Argument('<kind>', 'what to erase').choices(Object.keys(ORDERS));
  apiOptions(program.command('erase').addArgument(kind).argument('<id>', 'its id'))
    .description('Delete a person, a space, a conversation or an agent, and erase the texts. It cannot be undone.')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample: lastcall erase person 01997d7c-…')
    .action(erase);
}

async function erase(kind: Kind, id: string, { url, json, yes = false }: EraseOptions): Promise<void> {
  loadEnv(process.cwd());
  if (!yes) await confirm(kind, id);
  const api = new Api({ url });
  const output = createOutput({ json });
  const ordered = await api.ask((client) => ORDERS[kind](client, id));
  const done = await follow(api, ordered, (text) => {
    if (json !== true) process.stderr.write(`${text}\n`);
  });
  output.result(done, `Erased. Texts were replaced in ${done.replaced} rows.`);
}

async function confirm(kind: Kind, id: string): Promise<void> {
  if (process.stdin.isTTY !== true)
    throw new CommandFailed('Nobody can be asked here. Add --yes if you mean it: it cannot be undone.', {
      exitCode: EXIT.usage,
    });
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = await terminal.question(`${MEANING[kind]}. It cannot be undone. Type the id to go on: `);
    if (typed.trim() !== id) throw new CommandFailed('Nothing was erased.', { exitCode: EXIT.usage });
  } finally {
    terminal.close();
  }
}

const PHASES: Readonly<Record<Erasure['phase'], string>> = {
  collect: 'Reading what is erased …',
  sources: 'Replacing texts …',
  threads: 'Replacing what agents made of them …',
  copies: 'Looking for copies …',
  files: 'Cleaning the files of the database …',
  done: 'Done.',
};

/** Says what is done. The gateway continues also if this command is interrupted. */
async function follow(api: Api, ordered: Erasure, say: (text: string) => void): Promise<Erasure> {
  let [erasure, told] = [ordered, ''];
  while (erasure.status === 'running') {
    const text = `${PHASES[erasure.phase]} ${erasure.replaced} rows so far.${erasure.error === undefined ? '' : ` It is tried again: ${erasure.error}`}`;
    if (text !== told) say(text);
    told = text;
    await sleep(250);
    erasure = await api.ask((client) => client.erasures.get(ordered.id));
  }
  return erasure;
}
