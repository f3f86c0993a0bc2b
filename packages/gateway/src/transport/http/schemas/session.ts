import { z } from 'zod';
import { SCOPES, type Scope } from '../../../domain/keys/scope.ts';

export const scopesSchema: z.ZodType<Scope[]> = z
  .array(z.enum(SCOPES))
  .max(SCOPES.length)
  .meta({ description: 'What it may do in addition to what its person may do.' });

const fields = {
  id: z.string(),
  scopes: scopesSchema,
  entity: z
    .strictObject({ id: z.string(), displayName: z.string() })
    .optional()
    .meta({ description: 'The person who is the author of messages and answers.' }),
  keyId: z.string().optional().meta({ description: 'The secret key whose revocation ends it.' }),
  makerSessionId: z
    .string()
    .optional()
    .meta({ description: 'The session that created it and whose end also ends it.' }),
  createdAt: z.int(),
  expiresAt: z.int(),
};

export const sessionSchema: z.ZodType = z.strictObject(fields).meta({ id: 'Session' });

/** A sign-in link without its code. */
export const linkSchema: z.ZodType = z.strictObject(fields).meta({ id: 'SignInLink' });
