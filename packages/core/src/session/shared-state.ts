import type { Clock } from '../clock.ts';
import { type JournalStalled, RestoreFailed } from '../errors.ts';
import type { Filesystem } from '../files/filesystem.ts';
import type { Logger } from '../logger.ts';
import { Subscribers } from './subscribers.ts';

/** What all layers of one session share. */
export interface SharedState {
  readonly subscribers: Subscribers;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly baseFilesystem: () => Filesystem;
  /** True if sections that the model opened stay open when the next turn starts. */
  readonly keepsOpened: boolean;
  /** Set once something could not be restored, or the journal may know more: the state is not known any more. */
  poison: RestoreFailed | JournalStalled | undefined;
}

export function createSharedState(options: {
  logger: Logger;
  clock: Clock;
  filesystem: () => Filesystem;
  keepsOpened: boolean;
}): SharedState {
  const logger = neverThrowing(options.logger);
  let base: Filesystem | undefined;
  return {
    subscribers: new Subscribers(logger),
    logger,
    clock: options.clock,
    baseFilesystem: () => (base ??= options.filesystem()),
    keepsOpened: options.keepsOpened,
    poison: undefined,
  };
}

export function assertUnpoisoned({ poison }: SharedState): void {
  if (poison === undefined) return;
  throw new RestoreFailed(`The session is poisoned and refuses further calls: ${poison.message}`, { cause: poison });
}

/** A logger that throws must not change how a call ends. */
function neverThrowing(logger: Logger): Logger {
  const guard =
    (level: keyof Logger) =>
    (message: string, details?: unknown): void => {
      try {
        logger[level](message, details);
      } catch {
        // Nothing can report this error: it came from the logger.
      }
    };
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}
