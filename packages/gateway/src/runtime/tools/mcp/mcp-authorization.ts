import { randomBytes } from 'node:crypto';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { McpCredentials } from '../../../domain/mcp/mcp-credentials.ts';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import { SHORTEST_SECRET } from '../../../telemetry/redact.ts';

/** The client's own credentials and the scope it requests, with secrets filled in. */
export interface AuthorizationOptions {
  readonly issuer?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scope?: string | undefined;
  /** Where the authorization server sends the browser. */
  readonly redirectUrl: string;
}

/** What is stored from the request for an authorization until it is given. */
export interface AwaitedAuthorization {
  /** The page where a person gives the authorization. */
  readonly url: string;
  readonly codeVerifier: string;
  readonly discovery?: OAuthDiscoveryState | undefined;
  /** The authorization server expects the same URL again. The gateway that gets the answer may have another address. */
  readonly redirectUrl: string;
  /** What the gateway needs to know about the server to complete the authorization. */
  readonly context: unknown;
}

export interface AuthorizationStorage {
  readonly credentials: McpCredentials;
  readonly serverKey: string;
  readonly secrets: KnownSecrets;
  readonly context: unknown;
  /** The authorization that is being given now. */
  readonly given?: AwaitedAuthorization | undefined;
}

/** Authorization by a person in a browser. All gateways on a store share the resulting tokens. */
export function authorizationProvider(
  { issuer, clientId, clientSecret, scope, redirectUrl }: AuthorizationOptions,
  { credentials, serverKey, secrets, context, given }: AuthorizationStorage,
): OAuthClientProvider {
  let codeVerifier = given?.codeVerifier ?? '';
  let discovery = given?.discovery;
  let lastRead: string | undefined;
  const known = <T extends StoredOAuthTokens | undefined>(tokens: T): T => {
    const texts = [tokens?.access_token, tokens?.refresh_token].filter((one) => one !== undefined);
    secrets.add(...texts.filter(({ length }) => length >= SHORTEST_SECRET));
    return tokens;
  };
  return {
    redirectUrl,
    clientMetadata: {
      client_name: 'Lastcall',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: clientSecret === undefined ? 'none' : 'client_secret_basic',
      ...(scope === undefined ? {} : { scope }),
    },
    state: () => randomBytes(24).toString('base64url'),
    async clientInformation() {
      if (clientId === undefined) return await credentials.read<StoredOAuthClientInformation>(serverKey, 'client');
      return {
        client_id: clientId,
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
        issuer,
      } as StoredOAuthClientInformation;
    },
    async saveClientInformation(client) {
      if ('client_secret' in client && client.client_secret !== undefined) secrets.add(client.client_secret);
      await credentials.write(serverKey, 'client', client);
    },
    async tokens() {
      const tokens = known(await credentials.read<StoredOAuthTokens>(serverKey, 'tokens'));
      lastRead = tokens?.access_token;
      return tokens;
    },
    async saveTokens(tokens) {
      await credentials.write(serverKey, 'tokens', known(tokens));
    },
    saveCodeVerifier(verifier) {
      codeVerifier = verifier;
    },
    codeVerifier: () => codeVerifier,
    saveDiscoveryState(state) {
      discovery = state;
    },
    discoveryState: () => discovery,
    async redirectToAuthorization(url) {
      const awaited: AwaitedAuthorization = { url: url.href, codeVerifier, discovery, redirectUrl, context };
      const state = url.searchParams.get('state') ?? '';
      await credentials.write(serverKey, 'authorization', awaited, { state });
    },
    async invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') await credentials.remove(serverKey, 'client');
      if (scope === 'client' || scope === 'verifier' || scope === 'discovery') return;
      // Another gateway may have renewed them since they were read here.
      const stored = await credentials.read<StoredOAuthTokens>(serverKey, 'tokens');
      if (stored?.access_token === lastRead) await credentials.remove(serverKey, 'tokens');
    },
  };
}
