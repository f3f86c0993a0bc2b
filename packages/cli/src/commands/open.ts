import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { Api } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addOpen(program: Command): void {
  apiOptions(program.command('open').argument('[path]', 'a page of it, e.g. /inbox or /runs', '/'))
    .description('Open the studio of the gateway in the browser, signed in, and print its address.')
    .option('--as <person>', 'act for this person, by id (default: the first one)')
    .option('--no-browser', 'only print the address')
    .addHelpText('after', HELP)
    .action(open);
}

const HELP = `
With LASTCALL_SECRET_KEY the address has a code that signs one browser in, once, within 15 minutes: do not pass it on.
Without a key, and for pages that are not the studio's, it is the address alone.`;

interface OpenOptions extends ApiCommandOptions {
  readonly browser: boolean;
  readonly as?: string;
}

async function open(given: string, { url, json, browser, as }: OpenOptions): Promise<void> {
  loadEnv(process.cwd());
  const api = new Api({ url });
  // Fails with a clear message if no gateway answers. The browser would only show its own error page.
  await api.ask((client) => client.status.health());
  const path = given.startsWith('/') ? given : `/${given}`;
  const fragment = api.hasKey && isPage(path) ? new URL(await signInLink(api, as)).hash : '';
  const address = `${api.url}${path}${fragment}`;
  createOutput({ json }).result({ url: address }, address);
  if (browser && process.stdout.isTTY) openBrowser(address);
}

/** Only pages remove the sign-in code from the address bar. Files and API routes do not, so they get none. */
function isPage(path: string): boolean {
  return !/^\/(api|v1|mcp|assets|health|ready|metrics)\b|\.\w+$/.test(path);
}

/**
 * Creates a sign-in link with all the key's rights: its owner has them anyway. The key does not list its scopes, so
 * `admin` is tried first.
 */
async function signInLink(api: Api, as: string | undefined): Promise<string> {
  const entityId = as ?? (await firstPerson(api));
  const link = async (scope: 'admin' | 'write'): Promise<string> =>
    (await api.ask((client) => client.links.create({ scopes: [scope], entityId }))).url;
  return await link('admin').catch((error: unknown) => {
    if (error instanceof CommandFailed && error.status === 403) return link('write');
    throw error;
  });
}

async function firstPerson(api: Api): Promise<string | undefined> {
  return (await api.ask((client) => client.entities.list({ kind: 'human', limit: 1 }))).items[0]?.id;
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Errors are ignored: the terminal already shows the address. */
function openBrowser(address: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(command, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
