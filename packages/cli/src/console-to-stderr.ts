import { Console } from 'node:console';

/**
 * Prints what a configuration and its tools write to the console on standard error. Standard output has the result of a command, which
 * programs read.
 */
export function consoleToStderr(): void {
  globalThis.console = new Console(process.stderr);
}
