import {
  type AuthProvider,
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

/**
 * Renews expired tokens once, even if many requests find at the same time that they have expired: a refresh token can
 * be used only once.
 */
export function renewingTokens(provider: OAuthClientProvider): AuthProvider {
  let renewing: Promise<void> | undefined;
  return {
    token: async () => (await provider.tokens())?.access_token,
    async onUnauthorized(context) {
      renewing ??= renew(provider, context).finally(() => {
        renewing = undefined;
      });
      await renewing;
    },
  };
}

type Unauthorized = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

async function renew(provider: OAuthClientProvider, { response, serverUrl, fetchFn }: Unauthorized): Promise<void> {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  const result = await auth(provider, {
    serverUrl,
    fetchFn,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  });
  if (result !== 'AUTHORIZED') throw new UnauthorizedError('The gateway must be authorised by a person.');
}
