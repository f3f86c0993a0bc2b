import type { Selectable } from 'kysely';
import { z } from 'zod';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { MemoryRow } from '../../ports/store/schema/tables.ts';
import { noteKeySchema } from './note-key.ts';

/** Something that an agent wants to remember. */
export interface Memory {
  readonly key: string;
  /** Text, or any other JSON. */
  readonly value: unknown;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface MemoryInput {
  readonly key: string;
  readonly value: unknown;
}

export const memoryInputSchema: z.ZodType<MemoryInput> = z.strictObject({
  key: noteKeySchema,
  value: z.unknown(),
});

export function toMemory(row: Selectable<MemoryRow>): Memory {
  return { key: row.key, value: fromJson(row.value), createdAt: row.created_at, updatedAt: row.updated_at };
}
