import type { Command } from 'commander';
import { hasConfigFile } from '../config-files.ts';
import { crashBySupervisor, superviseDemo } from '../demo/supervise.ts';
import { loadEnv } from '../load-env.ts';
import { hookModules } from '../module-hooks.ts';
import { wholeNumber } from './whole-number.ts';

interface StartOptions {
  readonly json?: boolean;
  readonly port?: number;
  readonly host?: string;
}

export function addStart(program: Command): void {
  program
    .command('start')
    .description('Run the gateway of this folder, until Ctrl+C. Without a lastcall.config.ts it runs a demo.')
    .option(
      '--port <port>',
      'listen on this port; 0 takes any free one (default: PORT, or 4100)',
      wholeNumber(0, 65_535),
    )
    .option('--host <host>', 'listen on this address (default: HOST, or 127.0.0.1)')
    .option('--json', 'print every line as JSON')
    .option('--no-json', 'print readable lines, also in a pipe')
    .addHelpText('after', HELP)
    .action(start);
}

/** Runs the gateway until the process gets a signal. */
async function start({ json, port, host }: StartOptions): Promise<void> {
  loadEnv(process.cwd());
  if (port !== undefined) process.env.PORT = String(port);
  if (host !== undefined) process.env.HOST = host;
  const crash = crashBySupervisor();
  if (crash === undefined && mayBeSupervised()) {
    await superviseDemo(json === undefined ? [] : [json ? '--json' : '--no-json']);
    return;
  }
  hookModules(reportToParent());
  const { runGateway } = await import('../run-gateway.ts');
  await runGateway({ json: json ?? (process.stdout.isTTY ? false : undefined), crash });
}

/**
 * The demo can be crashed from the studio, so its gateway runs in a separate process. `lastcall dev` already starts
 * one, and on Windows a process cannot be asked to stop.
 */
function mayBeSupervised(): boolean {
  const isDev = process.env.LASTCALL_DEV !== undefined;
  return !isDev && process.platform !== 'win32' && !hasConfigFile(process.cwd());
}

/** `lastcall dev` watches the files that its child has loaded. */
function reportToParent(): ((file: string) => void) | undefined {
  if (process.send === undefined || process.env.LASTCALL_DEV === undefined) return undefined;
  // The channel must not keep the gateway alive. If the parent is killed, nothing else would stop the gateway.
  process.channel?.unref();
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  return (file) => void process.send?.({ loaded: file }, undefined, undefined, () => {});
}

const HELP = `
Reads lastcall.config.ts (.mts, .js, .mjs) and .env of this folder. On a terminal it prints a readable line for each
message, call and run; in a pipe one JSON object each. Its last line at the start is the address.

Environment: PORT, HOST, DATABASE_URL, DATABASE_DIRECT_URL, LASTCALL_HOME, LASTCALL_SECRET_KEY, LASTCALL_MODEL,
LASTCALL_LOG_LEVEL.`;
