import { z } from 'zod';

/** An event of a stream: its number, its type, its time and its payload. */
export function streamEvent<T extends z.ZodRawShape>(
  type: string | readonly [string, ...string[]],
  fields: T,
): z.ZodType {
  const types = typeof type === 'string' ? z.literal(type) : z.enum(type);
  return z.strictObject({ seq: z.int(), type: types, at: z.int(), ...fields });
}

/** Sent in place of events that are no longer stored: the client must reload everything. */
export const resetEventSchema: z.ZodType = z
  .strictObject({ seq: z.int(), type: z.literal('reset') })
  .meta({ id: 'ResetEvent', description: 'Missed events are no longer stored. Reload the state.' });
