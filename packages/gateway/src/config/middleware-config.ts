import { z } from 'zod';

/** A built-in middleware, by name or with its settings. The first of a list is the outermost. */
export type MiddlewareConfig =
  | 'log'
  | { readonly retry: { readonly attempts: number; readonly backoffMs?: number | undefined } }
  | { readonly cache: { readonly ttlMs: number; readonly maxEntries?: number | undefined } };

const retrySchema = z.strictObject({
  attempts: z.int().min(1).max(100),
  backoffMs: z.int().min(0).max(3_600_000).optional(),
});

const cacheSchema = z.strictObject({
  ttlMs: z.int().min(1).max(31_536_000_000),
  maxEntries: z.int().min(1).max(1_000_000).optional(),
});

export const middlewareSchema: z.ZodType<MiddlewareConfig> = z.union(
  [z.literal('log'), z.strictObject({ retry: retrySchema }), z.strictObject({ cache: cacheSchema })],
  {
    error:
      'must be "log", { retry: { attempts, backoffMs? } } or { cache: { ttlMs, maxEntries? } }, with settings in their bounds.',
  },
);
