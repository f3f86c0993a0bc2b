import type { Command } from 'commander';
import { EXIT } from '../exit-code.ts';
import { Reloader } from '../reloader.ts';
import { wholeNumber } from './whole-number.ts';

export function addDev(program: Command): void {
  program
    .command('dev')
    .description(
      'Run the gateway of this folder, and start it again when the configuration or what it imports changes.',
    )
    .option('--port <port>', 'listen on this port (default: PORT, or 4100)', wholeNumber(0, 65_535))
    .option('--host <host>', 'listen on this address (default: HOST, or 127.0.0.1)')
    .option('--json', 'print every line as JSON')
    .option('--no-json', 'print readable lines, also in a pipe')
    .addHelpText('after', '\nConversations survive the restart: no message is lost or sent twice.')
    .action(dev);
}

async function dev({ json, port, host }: { json?: boolean; port?: number; host?: string }): Promise<void> {
  const flags = [
    ...(json === undefined ? [] : [json ? '--json' : '--no-json']),
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(host === undefined ? [] : ['--host', host]),
  ];
  const reloader = new Reloader({ folder: process.cwd(), args: ['start', ...flags] });
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  reloader.start();
  await promise;
  await reloader.stop();
  process.exitCode = EXIT.done;
}
