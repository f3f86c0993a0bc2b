import type { Selectable } from 'kysely';
import { z } from 'zod';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { GoalRow } from '../../ports/store/schema/tables.ts';
import { lineSchema, noteKeySchema } from './note-key.ts';

/** Something that an agent wants to achieve. */
export interface Goal {
  readonly key: string;
  readonly description: string;
  /** A word that the agent chooses: "active", "done", … */
  readonly status: string;
  /** A higher number is more important. */
  readonly priority: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A goal to set. Fields that are left out of an existing goal stay as they are. */
export interface GoalInput {
  readonly key?: string | undefined;
  readonly description: string;
  /** Default "active". */
  readonly status?: string | undefined;
  /** Default 0. */
  readonly priority?: number | undefined;
}

export const goalInputSchema: z.ZodType<GoalInput> = z.strictObject({
  key: noteKeySchema.optional(),
  description: z.string().trim().min(1),
  status: lineSchema(50).optional(),
  priority: z
    .int()
    // Checked here and not in the schema, which a model reads in every request.
    .refine((value) => Math.abs(value) <= 1_000_000, { error: 'must be from -1000000 to 1000000.' })
    .optional(),
});

export function toGoal(row: Selectable<GoalRow>): Goal {
  return {
    key: row.key,
    description: fromJson(row.description),
    status: row.status,
    priority: row.priority,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
