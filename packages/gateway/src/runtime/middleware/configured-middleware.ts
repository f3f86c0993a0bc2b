import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Middleware, retry } from '@lastcall/core';
import { backoffMs } from '@lastcall/core/internal';
import type { MiddlewareConfig } from '../../config/middleware-config.ts';
import type { CacheSettings } from '../toolset/tool-caches.ts';
import type { CallNotes } from './call-notes.ts';
import { type CallLog, logCalls } from './log-calls.ts';
import { repairInput } from './repair-input.ts';

/** The parts that a run's middleware is made from. */
export interface MiddlewareParts extends CallLog {
  readonly cache: (settings: CacheSettings) => Middleware;
  /** The model of that name, or the agent's own model if there is no name. */
  readonly model: (name: string | undefined) => LanguageModelV4 | Promise<LanguageModelV4>;
  readonly signal: AbortSignal;
}

/** The middleware that a configuration names, outermost first. */
export function configuredMiddleware(configs: readonly MiddlewareConfig[], parts: MiddlewareParts): Middleware[] {
  return configs.map((config) => toMiddleware(config, parts));
}

function toMiddleware(config: MiddlewareConfig, parts: MiddlewareParts): Middleware {
  if (config === 'log') return logCalls(parts);
  if (config === 'repair') return repairInput({ ...parts, model: undefined });
  if ('repair' in config) {
    const { model } = config.repair;
    const ask = model === undefined ? undefined : () => parts.model(model === true ? undefined : model);
    return repairInput({ ...parts, model: ask });
  }
  if ('cache' in config) return parts.cache(config.cache);
  const { attempts, backoffMs: firstMs = 0 } = config.retry;
  return countAttempts(retry({ attempts, backoff: (attempt) => backoffMs(attempt, { firstMs }) }), parts.notes);
}

/** The same middleware. It also records how often the tool was run, if more than once. */
function countAttempts(retrying: Middleware, notes: CallNotes): Middleware {
  return {
    ...retrying,
    call(next, call, ctx) {
      let attempts = 0;
      return retrying.call?.(
        (changed) => {
          attempts += 1;
          if (attempts > 1) notes.add(call.callId, { retry: { attempts } });
          return next(changed);
        },
        call,
        ctx,
      );
    },
  };
}
