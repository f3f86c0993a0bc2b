import { z } from 'zod';

/** A recurring plan that an agent has after each start. */
export interface PlanSeed {
  /** The name of an agent of the same configuration. */
  readonly agent: string;
  readonly key: string;
  /** Default: the key. */
  readonly name?: string | undefined;
  readonly instruction: string;
  /** Five fields, or six with seconds first, or @daily and the like. */
  readonly cron: string;
  /** An IANA name, default UTC. */
  readonly timeZone?: string | undefined;
  /** What happens after downtime: `once` (default) fires one time for all missed times, `skip` not at all. */
  readonly misfire?: 'once' | 'skip' | undefined;
}

export const planSeedSchema: z.ZodType<PlanSeed> = z.strictObject({
  agent: z.string(),
  key: z.string().trim().min(1).max(100),
  name: z.string().trim().min(1).max(200).optional(),
  instruction: z.string().trim().min(1),
  cron: z.string().min(1).max(200),
  timeZone: z.string().max(200).optional(),
  misfire: z.enum(['once', 'skip']).optional(),
});
