import { z } from 'zod';
import { SCOPES, type Scope } from '../../../domain/keys/scope.ts';

export const scopesSchema: z.ZodType<Scope[]> = z
  .array(z.enum(SCOPES))
  .max(SCOPES.length)
  .meta({ description: 'What it may do beyond what its person may.' });

export const sessionSchema: z.ZodType = z
  .strictObject({
    id: z.string(),
    scopes: scopesSchema,
    entity: z
      .strictObject({ id: z.string(), displayName: z.string() })
      .optional()
      .meta({ description: 'The person that messages and answers are by.' }),
    keyId: z.string().optional().meta({ description: 'The secret key that it ends with.' }),
    createdAt: z.int(),
    expiresAt: z.int(),
  })
  .meta({ id: 'Session' });
