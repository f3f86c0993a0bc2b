import { Console } from 'node:console';
import { Writable } from 'node:stream';
import type { Logger } from '@lastcall/core';

/**
 * Writes everything else that a process prints to the log: the console, which third-party tools write to, Node's warnings, and
 * the unhandled error that ends the process. So the output is one JSON object per line.
 */
export function logProcess(logger: Logger): void {
  globalThis.console = new Console({
    stdout: toLog((text) => logger.info(text)),
    stderr: toLog((text) => logger.warn(text)),
  });
  // Node's own listener would print them as plain text.
  process.removeAllListeners('warning').on('warning', (warning) => {
    // Node 22 warns about SQLite and type stripping, which the gateway relies on.
    if (warning.name !== 'ExperimentalWarning') logger.warn('Warning from Node.', warning);
  });
  process.on('uncaughtException', (error) => {
    logger.error('The gateway stops because of an unhandled error.', error);
    process.exit(1);
  });
}

/** The console writes each message in one piece, however many lines it has. */
function toLog(log: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      log(String(text).trimEnd());
      done();
    },
  });
}
