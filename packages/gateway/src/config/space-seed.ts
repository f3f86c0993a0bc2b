import { z } from 'zod';
import { agentNameSchema } from './agent-config.ts';

/** A space that exists after each start, with these members. It may have others too. */
export interface SpaceSeed {
  readonly name: string;
  readonly description?: string | undefined;
  /** The names of agents of the same configuration. */
  readonly agents?: readonly string[] | undefined;
  readonly people?: readonly PersonSeed[] | undefined;
  /** Your own data. The studio offers `suggestions`, a list of sentences, in a space without messages. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface PersonSeed {
  readonly name: string;
  /** The id that your own system has for the person. Without one, the person is found by name within the space. */
  readonly externalId?: string | undefined;
  readonly role?: string | undefined;
}

const personSchema = z.strictObject({
  name: agentNameSchema,
  externalId: z.string().min(1).max(200).optional(),
  role: z.string().min(1).max(200).optional(),
});

export const spaceSeedSchema: z.ZodType<SpaceSeed> = z.strictObject({
  name: agentNameSchema,
  description: z.string().max(2_000).optional(),
  agents: z.array(z.string()).optional(),
  people: z.array(personSchema).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
