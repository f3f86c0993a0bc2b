import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { Api } from '../api.ts';
import { loadEnv } from '../load-env.ts';
import { createOutput } from '../terminal/output.ts';
import { type ApiCommandOptions, apiOptions } from './api-options.ts';

export function addOpen(program: Command): void {
  apiOptions(program.command('open').argument('[path]', 'a page of it, e.g. /openapi.json', '/'))
    .description('Open the gateway in the browser, and print its address.')
    .option('--no-browser', 'only print the address')
    .action(open);
}

async function open(path: string, { url, json, browser }: ApiCommandOptions & { browser: boolean }): Promise<void> {
  loadEnv(process.cwd());
  const api = new Api({ url });
  // Says so where nothing answers: a browser would show an error page of its own.
  await api.request('GET', '/health');
  const address = `${api.url}${path.startsWith('/') ? path : `/${path}`}`;
  createOutput({ json }).result({ url: address }, address);
  if (browser && process.stdout.isTTY) openBrowser(address);
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** A machine without a browser has the address on its terminal already. */
function openBrowser(address: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(command, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
