import type { Logger } from '@lastcall/core';
import { hideTag, hideTagIn } from './hide-tag.ts';

/** A logger for one agent's turn: the id of its frames goes to no log, whoever keeps it. */
export function withoutTag(logger: Logger, tag: string): Logger {
  const write =
    (level: keyof Logger) =>
    (message: string, details?: unknown): void =>
      logger[level](hideTag(message, tag), hideTagIn(details, tag));
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
