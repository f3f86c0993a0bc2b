import type { Selectable } from 'kysely';
import { z } from 'zod';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { PlanRow } from '../../ports/store/schema/tables.ts';
import { noteKeySchema } from '../memory/note-key.ts';

/** An instruction that an agent receives at a time. Times are milliseconds since the epoch. */
export interface Plan {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly instruction: string;
  /** A pattern with its time zone. A plan has either this or `at`. */
  readonly cron?: string;
  readonly timeZone?: string;
  readonly at?: number;
  readonly misfire: Misfire;
  /** Missing once the plan has fired for the last time. */
  readonly nextAt?: number;
  readonly lastAt?: number;
  /** Who set it. The agent cannot change or delete a plan of an operator or of the configuration file. */
  readonly setBy: PlanSetter;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type PlanSetter = 'agent' | 'operator' | 'file';

/** What happens after downtime: `once` fires one time for all missed times, `skip` not at all. */
export type Misfire = 'once' | 'skip';

/** A plan to set, with exactly one of `cron`, `at` and `after`. */
export interface PlanInput {
  readonly key?: string | undefined;
  readonly name: string;
  readonly instruction: string;
  /** Five fields, or six with seconds first, or @daily and the like. */
  readonly cron?: string | undefined;
  /** An ISO 8601 time (in `timeZone` if it has no offset), or milliseconds since the epoch. */
  readonly at?: string | number | undefined;
  /** An ISO 8601 duration (weeks, days, hours, minutes, seconds; a day is 24 hours), or milliseconds. */
  readonly after?: string | number | undefined;
  /** The time zone of `cron`, and of an `at` without an offset. An IANA name, default UTC. */
  readonly timeZone?: string | undefined;
  /** Default `once`. */
  readonly misfire?: Misfire | undefined;
}

const text = z.string().max(200);
// A model is told of the text alone. It is easier to get right than a number of milliseconds, which is still accepted.
const textOrNumber = z
  .unknown()
  .refine((value) => (typeof value === 'string' ? value.length <= 200 : typeof value === 'number'), {
    error: 'must be a text of at most 200 characters, or a number.',
  })
  .meta({ type: 'string' }) as unknown as z.ZodType<string | number>;

export const planInputSchema: z.ZodType<PlanInput> = z.strictObject({
  key: noteKeySchema.optional(),
  name: z.string().trim().min(1).max(200),
  instruction: z.string().trim().min(1),
  cron: text.optional(),
  at: textOrNumber.optional(),
  after: textOrNumber.optional(),
  timeZone: text.optional(),
  misfire: z.enum(['once', 'skip']).optional(),
});

export function toPlan(row: Selectable<PlanRow>): Plan {
  return {
    id: row.id,
    key: row.key,
    name: fromJson(row.name),
    instruction: fromJson(row.instruction),
    ...(row.cron === null ? { at: row.at ?? row.created_at } : { cron: row.cron, timeZone: row.time_zone }),
    misfire: row.misfire,
    ...(row.next_at === null ? {} : { nextAt: row.next_at }),
    ...(row.last_at === null ? {} : { lastAt: row.last_at }),
    setBy: row.set_by ?? 'agent',
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
