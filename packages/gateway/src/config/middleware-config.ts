import { z } from 'zod';

/** A built-in middleware, given by its name or with its settings. The first of a list is the outermost. */
export type MiddlewareConfig =
  | 'log'
  | 'repair'
  | { readonly repair: { readonly model?: true | string | undefined } }
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

const repairSchema = z.strictObject({
  model: z.union([z.literal(true), z.string().regex(/^\S{1,200}$/)]).optional(),
});

export const middlewareSchema: z.ZodType<MiddlewareConfig> = z
  .union(
    [
      z.enum(['log', 'repair']),
      z.strictObject({ retry: retrySchema }),
      z.strictObject({ cache: cacheSchema }),
      z.strictObject({ repair: repairSchema }),
    ],
    {
      error:
        'must be "log", { retry: { attempts, backoffMs? } }, { cache: { ttlMs, maxEntries? } }, "repair" or { repair: { model? } }, with settings in their bounds.',
    },
  )
  .meta({ id: 'MiddlewareConfig', description: 'A built-in middleware, by name or with its settings.' });
