import { z } from 'zod';
import { SCOPES, type Scope } from '../../../domain/keys/scope.ts';

export const scopesSchema: z.ZodType<Scope[]> = z
  .array(z.enum(SCOPES))
  .max(SCOPES.length)
  .meta({ description: 'What it may do beyond what its person may.' });

const fields = {
  id: z.string(),
  scopes: scopesSchema,
  entity: z
    .strictObject({ id: z.string(), displayName: z.string() })
    .optional()
    .meta({ description: 'The person that messages and answers are by.' }),
  keyId: z.string().optional().meta({ description: 'The secret key that it ends with.' }),
  makerSessionId: z.string().optional().meta({ description: 'The session that made it, and that it ends with.' }),
  createdAt: z.int(),
  expiresAt: z.int(),
};

export const sessionSchema: z.ZodType = z.strictObject(fields).meta({ id: 'Session' });

/** A sign-in link without its code. */
export const linkSchema: z.ZodType = z.strictObject(fields).meta({ id: 'SignInLink' });
