import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { startWebSite, type WebSite } from '../support/web-site.ts';

interface Grant {
  readonly challenge?: string;
  readonly redirectUri?: string;
  readonly clientId?: string;
}

/** A test authorization server, and an MCP server that requires its tokens. */
export interface OAuthSite extends AsyncDisposable {
  readonly mcp: WebSite;
  readonly issuer: WebSite;
  readonly hosts: readonly string[];
  /** What it granted: `authorization_code`, `refresh_token`, `client_credentials`. */
  readonly granted: readonly string[];
  /** All access tokens and refresh tokens that it gave. */
  readonly secrets: readonly string[];
  /** Access tokens given so far are refused from now on. */
  expire(options?: { readonly alsoRefreshTokens: boolean }): void;
}

export async function startOAuthSite(client?: { readonly id: string; readonly secret: string }): Promise<OAuthSite> {
  const granted: string[] = [];
  const secrets: string[] = [];
  const valid = new Set<string>();
  const refreshTokens = new Set<string>();
  const codes = new Map<string, Grant>();
  const registered = new Set(client === undefined ? [] : [client.id]);

  const token = (form: URLSearchParams, authorization = ''): object | undefined => {
    const grant = form.get('grant_type') ?? '';
    const [id, secret] = Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':');
    if (client !== undefined && (id !== client.id || secret !== client.secret)) return undefined;
    if (grant === 'authorization_code') {
      const known = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (known?.challenge !== challenge || known.redirectUri !== form.get('redirect_uri')) return undefined;
    } else if (grant === 'refresh_token') {
      // Each can be used once.
      if (!refreshTokens.delete(form.get('refresh_token') ?? '')) return undefined;
    } else if (grant !== 'client_credentials') return undefined;
    granted.push(grant);
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    secrets.push(access, refresh);
    valid.add(access);
    if (grant === 'client_credentials') return { access_token: access, token_type: 'Bearer', expires_in: 3_600 };
    refreshTokens.add(refresh);
    return { access_token: access, token_type: 'Bearer', expires_in: 3_600, refresh_token: refresh };
  };

  const issuer: WebSite = await startWebSite(({ method, url, headers, body }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://issuer');
    const json = (value: object, status = 200): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/.well-known/oauth-authorization-server')
      return json({
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
        registration_endpoint: `${issuer.url}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
        authorization_response_iss_parameter_supported: true,
      });
    if (pathname === '/register' && method === 'POST') {
      const id = `client-${randomUUID()}`;
      registered.add(id);
      return json({ ...(JSON.parse(body) as object), client_id: id }, 201);
    }
    if (pathname === '/authorize') {
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      const state = searchParams.get('state') ?? '';
      if (!registered.has(searchParams.get('client_id') ?? '')) return json({ error: 'invalid_client' }, 400);
      const code = randomUUID();
      codes.set(code, {
        challenge: searchParams.get('code_challenge') ?? '',
        redirectUri: searchParams.get('redirect_uri') ?? '',
      });
      for (const [name, value] of Object.entries({ code, state, iss: issuer.url })) back.searchParams.set(name, value);
      return response.writeHead(302, { location: back.href }).end();
    }
    if (pathname === '/token') {
      const given = token(new URLSearchParams(body), headers.authorization);
      return given === undefined ? json({ error: 'invalid_grant' }, 400) : json(given);
    }
    return response.writeHead(404).end();
  });

  const handler = createMcpHandler(buildServer, { legacy: 'reject' });
  const mcp: WebSite = await startWebSite(async ({ method, url, headers, body }, response) => {
    if (url.startsWith('/.well-known/oauth-protected-resource')) {
      const metadata = { resource: `${mcp.url}/mcp`, authorization_servers: [issuer.url] };
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    }
    if (!valid.has(headers.authorization?.slice('Bearer '.length) ?? '')) {
      const challenge = `Bearer resource_metadata="${mcp.url}/.well-known/oauth-protected-resource/mcp"`;
      return response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    const known = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    const init = { method, headers: known, ...(method === 'POST' ? { body } : {}) };
    const answer = await handler.fetch(new Request(`${mcp.url}${url}`, init));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) return response.end();
    return Readable.fromWeb(answer.body as never)
      .on('error', () => response.destroy())
      .pipe(response);
  });

  return {
    mcp,
    issuer,
    hosts: [mcp.host, issuer.host],
    granted,
    secrets,
    expire({ alsoRefreshTokens } = { alsoRefreshTokens: false }) {
      valid.clear();
      if (alsoRefreshTokens) refreshTokens.clear();
    },
    async [Symbol.asyncDispose]() {
      await mcp[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

function buildServer(): McpServer {
  const server = new McpServer({ name: 'guarded', version: '1' });
  const inputSchema = z.object({});
  server.registerTool('hello', { inputSchema }, (_input, { http }) => {
    const request = (http as { req?: Request } | undefined)?.req;
    return { content: [{ type: 'text', text: `Hello, ${request?.headers.get('authorization')}` }] };
  });
  return server;
}
