import type { Command } from 'commander';

export interface ApiCommandOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** The options of every command that calls a running gateway. */
export function apiOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the address of the gateway (default: LASTCALL_URL, or that of HOST and PORT)')
    .option('--json', 'print the answer as JSON');
}
