import { z } from 'zod';
import { type DaySpendLimits, dayLimitsSchema } from './spend-limits.ts';

/** A project that exists after each start. */
export interface ProjectSeed {
  readonly id: string;
  /** Default: its id. */
  readonly name?: string | undefined;
  /** What all its agents together may spend on a day. */
  readonly spend?: DaySpendLimits | undefined;
  /** The names of agents of the same configuration that belong to it. All others belong to `default`. */
  readonly agents?: readonly string[] | undefined;
  /** The names of spaces of the same configuration that belong to it, with their people. */
  readonly spaces?: readonly string[] | undefined;
}

export const projectSeedSchema: z.ZodType<ProjectSeed> = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be 1–64 characters of A–Z, a–z, 0–9, "_" and "-".' }),
  name: z.string().min(1).max(200).optional(),
  spend: dayLimitsSchema.optional(),
  agents: z.array(z.string()).optional(),
  spaces: z.array(z.string()).optional(),
});
