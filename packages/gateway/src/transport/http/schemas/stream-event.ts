import { z } from 'zod';

/** An event of a stream: its number, its type, its time, and what it says. */
export function streamEvent<T extends z.ZodRawShape>(
  type: string | readonly [string, ...string[]],
  fields: T,
): z.ZodType {
  const types = typeof type === 'string' ? z.literal(type) : z.enum(type);
  return z.strictObject({ seq: z.int(), type: types, at: z.int(), ...fields });
}

/** Sent in place of events that are no longer stored: the client loads everything again. */
export const resetEventSchema: z.ZodType = z
  .strictObject({ seq: z.int(), type: z.literal('reset') })
  .meta({ id: 'ResetEvent', description: 'Events were missed that are no longer stored. Load the state again.' });
