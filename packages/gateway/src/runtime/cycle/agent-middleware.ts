import { type Logger, log, type Middleware, retry } from '@lastcall/core';
import type { MiddlewareConfig } from '../../config/middleware-config.ts';
import type { CacheSettings } from './tool-caches.ts';

/** The middleware that an agent's configuration names. */
export function agentMiddleware(
  configs: readonly MiddlewareConfig[] = [],
  { logger, cache }: { logger: Logger; cache: (settings: CacheSettings) => Middleware },
): Middleware[] {
  return configs.map((config) => {
    if (config === 'log') return log(logger);
    if ('cache' in config) return cache(config.cache);
    const { attempts, backoffMs = 0 } = config.retry;
    return retry({ attempts, backoff: (attempt) => backoffMs * 2 ** (attempt - 1) });
  });
}
