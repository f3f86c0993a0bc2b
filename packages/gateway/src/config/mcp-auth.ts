import { z } from 'zod';
import { secretText } from './secret-text.ts';

/** How the gateway authenticates with an MCP server. Texts may contain `${env.NAME}`. */
export type McpAuth =
  | { readonly type: 'token'; readonly token: string }
  /** The gateway authenticates as itself. */
  | {
      readonly type: 'client_credentials';
      readonly issuer: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string | undefined;
    }
  /** The gateway acts for the person who authorises it in a browser. Without `clientId` the gateway registers itself. */
  | {
      readonly type: 'authorization_code';
      readonly issuer?: string | undefined;
      readonly clientId?: string | undefined;
      readonly clientSecret?: string | undefined;
      readonly scope?: string | undefined;
    };

const issuer = z.string().refine((text) => URL.canParse(text) && /^https?:/.test(new URL(text).protocol), {
  error: 'must be the URL of the authorization server, e.g. https://id.example.com.',
});
const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e ]{1,1000}$/, { error: 'must be scopes separated by spaces.' })
  .optional();

export const mcpAuthSchema: z.ZodType<McpAuth> = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('token'), token: secretText }),
    z.strictObject({
      type: z.literal('client_credentials'),
      issuer,
      clientId: secretText,
      clientSecret: secretText,
      scope,
    }),
    z.strictObject({
      type: z.literal('authorization_code'),
      issuer: issuer.optional(),
      clientId: secretText.optional(),
      clientSecret: secretText.optional(),
      scope,
    }),
  ])
  .superRefine((auth, ctx) => {
    if (auth.type !== 'authorization_code') return;
    // Without an issuer, the MCP server itself would name its authorization server, and that server would receive the
    // credentials.
    if (auth.clientId !== undefined && auth.issuer === undefined)
      ctx.addIssue({
        code: 'custom',
        path: ['issuer'],
        message: 'is missing: without it, the server could choose who receives the client id.',
      });
    if (auth.clientSecret !== undefined && auth.clientId === undefined)
      ctx.addIssue({ code: 'custom', path: ['clientId'], message: 'is missing: a client secret needs a client id.' });
  });
