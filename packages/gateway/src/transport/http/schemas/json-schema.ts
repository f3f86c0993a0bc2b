import { z } from 'zod';

/** A JSON Schema inside a response, e.g. that of a tool's input. */
export const jsonSchemaSchema: z.ZodType = z
  .record(z.string(), z.unknown())
  .meta({ id: 'JsonSchema', description: 'A JSON Schema.' });
