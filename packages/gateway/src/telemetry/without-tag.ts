import type { Logger } from '@lastcall/core';
import { hideTag, hideTagIn } from './hide-tag.ts';

/** A logger for one agent's turn that replaces the agent's frame tag: people who can read a log must not learn it. */
export function withoutTag(logger: Logger, tag: string): Logger {
  const write =
    (level: keyof Logger) =>
    (message: string, details?: unknown): void =>
      logger[level](hideTag(message, tag), hideTagIn(details, tag));
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
