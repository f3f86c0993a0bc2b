import { createHash } from 'node:crypto';
import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { McpServerConfig } from '../../../config/mcp-server.ts';
import { parseTemplate } from '../../../config/template.ts';
import { ApiError } from '../../../domain/api-error.ts';
import type { McpCredentials } from '../../../domain/mcp/mcp-credentials.ts';
import { fillText } from '../http/fill-template.ts';
import type { Outgoing } from '../http/http-tool.ts';
import { type AwaitedAuthorization, authorizationProvider } from './mcp-authorization.ts';

export interface McpLoginOptions {
  readonly credentials: McpCredentials;
  readonly outgoing: Outgoing;
  /** The route of the gateway to which browsers return. */
  readonly redirectUrl: () => string;
}

type Login = Pick<McpServerConfig, 'url' | 'auth'>;

/** The longest reason of an authorization server that is shown. */
const LONGEST_REASON = 500;

/** How the gateway gets the tokens that MCP servers require. */
export class McpLogin {
  readonly #options: McpLoginOptions;

  constructor(options: McpLoginOptions) {
    this.#options = options;
  }

  /** The provider from which the client gets tokens. Undefined for a server without `auth`. Loads the MCP package. */
  async provider(
    key: string,
    server: Login,
    given?: AwaitedAuthorization,
  ): Promise<AuthProvider | OAuthClientProvider | undefined> {
    const { auth } = server;
    if (auth === undefined) return undefined;
    const { credentials, outgoing, redirectUrl } = this.#options;
    const fill = (text: string): string => this.#fill(text);
    switch (auth.type) {
      case 'token':
        return { token: async () => fill(auth.token) };
      case 'client_credentials': {
        const { ClientCredentialsProvider } = await import('@modelcontextprotocol/client');
        const { issuer: expectedIssuer, clientId, clientSecret, scope } = auth;
        return new ClientCredentialsProvider({
          clientId: fill(clientId),
          clientSecret: fill(clientSecret),
          expectedIssuer,
          ...(scope === undefined ? {} : { scope }),
        });
      }
      case 'authorization_code': {
        const { clientId, clientSecret } = auth;
        return authorizationProvider(
          {
            ...auth,
            clientId: clientId && fill(clientId),
            clientSecret: clientSecret && fill(clientSecret),
            redirectUrl: given?.redirectUrl ?? redirectUrl(),
          },
          {
            credentials,
            serverKey: keyOf(key),
            secrets: outgoing.secrets.known,
            context: { key, server: { url: server.url, auth } },
            given,
          },
        );
      }
    }
  }

  /** The page where a person has to authorise the gateway. Undefined if no authorization was requested lately. */
  async awaitedUrl(key: string, { auth }: Login): Promise<string | undefined> {
    if (auth?.type !== 'authorization_code') return undefined;
    return (await this.#options.credentials.awaited<AwaitedAuthorization>(keyOf(key)))?.url;
  }

  /** Takes the query that the browser brings back, and gets the tokens for it. */
  async finish(query: URLSearchParams): Promise<void> {
    const state = query.get('state');
    const taken = state === null ? undefined : await this.#options.credentials.take<AwaitedAuthorization>(state);
    if (taken === undefined) throw new ApiError('unknown_state', UNKNOWN_STATE);
    const { key, server } = taken.value.context as { readonly key: string; readonly server: Login };
    const { finishAuthorization } = await import('./open-client.ts');
    const authProvider = (await this.provider(key, server, taken.value)) as OAuthClientProvider;
    try {
      await finishAuthorization({ url: server.url ?? '', authProvider, egress: this.#options.outgoing.egress }, query);
    } catch (error) {
      const reason = this.#options.outgoing.secrets.known.removeFrom((error as Error).message).slice(0, LONGEST_REASON);
      throw new ApiError('authorization_failed', `The authorization server did not authorise the gateway: ${reason}`);
    }
  }

  #fill(text: string): string {
    const { secrets } = this.#options.outgoing;
    return fillText(parseTemplate(text), { input: undefined, secret: (name) => secrets.read(name) }) ?? '';
  }
}

const UNKNOWN_STATE =
  'This authorization was not requested, was already used, or is older than 10 minutes. Open the page of GET /api/mcp/servers again.';

function keyOf(connectionKey: string): string {
  return createHash('sha256').update(connectionKey).digest('hex');
}
