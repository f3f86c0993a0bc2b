import { Console } from 'node:console';
import { Writable } from 'node:stream';
import type { Logger } from '@lastcall/core';

/**
 * What a process says beside its log becomes lines of the log: the console, which the queue and tools of others write to, Node's
 * warnings, and an error that nobody handled, of which the process dies. Whoever reads the output finds one JSON object a line.
 */
export function logProcess(logger: Logger): void {
  globalThis.console = new Console({
    stdout: toLog((text) => logger.info(text)),
    stderr: toLog((text) => logger.warn(text)),
  });
  // Node's own listener prints them as they are.
  process.removeAllListeners('warning').on('warning', (warning) => logger.warn('Node warns.', warning));
  process.on('uncaughtException', (error) => {
    logger.error('The gateway ends: an error was not handled.', error);
    process.exit(1);
  });
}

/** The console writes each of its messages at once, however many lines it has. */
function toLog(log: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      log(String(text).trimEnd());
      done();
    },
  });
}
