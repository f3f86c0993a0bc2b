import {
  type CallToolResult,
  createMcpHandler,
  hostHeaderValidationResponse,
  type InputRequiredResult,
  isLegacyRequest,
  localhostAllowedHostnames,
  originValidationResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { VERSION } from '../../config/version.ts';
import { ApiError } from '../../domain/api-error.ts';
import { isKeyValid } from '../../domain/keys/api-key.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { afterCommit } from '../http/error-answer.ts';
import type { Place } from '../places.ts';
import type { OpenStreams } from '../sse/open-streams.ts';
import { callStateCodec } from './call-state.ts';
import { type CallingOptions, callTool } from './call-tool.ts';
import { holderOf, keyIdOf, type McpRequest, toAuthInfo, viewOf } from './mcp-caller.ts';
import { LONGEST_SILENCE_MS, McpSessions } from './mcp-sessions.ts';
import { listOffered } from './offered.ts';
import { failed, RUN_ID } from './tool-result.ts';

export interface McpServerOptions extends Omit<CallingOptions, 'codec'> {
  /** Waiting calls count as open streams. */
  readonly streams: OpenStreams;
  /** Shared by all gateways on the store. */
  readonly secret: Uint8Array;
  readonly heartbeatMs: number;
  /** Host names that requests may be sent to. Undefined: any. */
  readonly hosts: readonly string[] | undefined;
  /** Host names of the pages that may send requests, in addition to the names of this machine. */
  readonly originHosts: readonly string[];
}

type Serving = CallingOptions & Pick<McpServerOptions, 'streams'>;

/** The gateway as an MCP server, for clients of the 2025 and of the 2026 protocol. */
export interface GatewayMcpServer {
  fetch(request: Request, from: McpRequest): Promise<Response>;
  close(): void;
}

export function createMcpServer(options: McpServerOptions): GatewayMcpServer {
  const calling: Serving = { ...options, codec: callStateCodec(options.secret) };
  const { heartbeatMs: keepAliveMs, hosts, originHosts, stopping, services } = options;
  const build = (era: 'legacy' | 'modern'): Server => buildServer(calling, era);
  const onerror = (error: Error): void => services.logger.debug('The MCP server refused a message.', error);
  // The response is a stream from the start: a call may be silent for longer than clients and proxies wait for the first byte of
  // a response.
  const modern = createMcpHandler(() => build('modern'), {
    legacy: 'reject',
    responseMode: 'sse',
    keepAliveMs,
    onerror,
  });
  const sessions = new McpSessions(() => build('legacy'), { keepAliveMs });
  const close = (): void => {
    sessions.close();
    void modern.close();
  };
  stopping.addEventListener('abort', close, { once: true });
  return {
    close,
    async fetch(request, { body, ...from }) {
      const refused = refuseOrigin(request, { hosts, originHosts });
      if (refused !== undefined) return refused;
      const given = { authInfo: toAuthInfo(from), parsedBody: body };
      return (await isLegacyRequest(request, body))
        ? await sessions.fetch(request, given)
        : await modern.fetch(request, given);
    },
  };
}

/** Refuses web pages that reach the gateway under their own host name (DNS rebinding) or from another site. */
function refuseOrigin(
  request: Request,
  { hosts, originHosts }: Pick<McpServerOptions, 'hosts' | 'originHosts'>,
): Response | undefined {
  // A request in memory has no Host header. A request from the network always has one.
  const isNamed = hosts !== undefined && request.headers.has('host');
  const wrongHost = isNamed ? hostHeaderValidationResponse(request, [...hosts]) : undefined;
  return wrongHost ?? originValidationResponse(request, [...localhostAllowedHostnames(), ...originHosts]);
}

/** More than an agent asks in one call. A client that always gives an invalid answer must not be asked for ever. */
const MOST_QUESTIONS = 200;

function buildServer(calling: Serving, era: 'legacy' | 'modern'): Server {
  const { services, offer, codec } = calling;
  const server = new Server(
    { name: 'lastcall', title: 'Lastcall gateway', version: VERSION },
    {
      // Log messages are deprecated in 2026.
      capabilities: { tools: {}, ...(era === 'legacy' ? { logging: {} } : {}) },
      requestState: { verify: codec.verify },
      // A client of 2025 is asked inside of its call. The package's own limits are 8 questions and ten minutes for each.
      inputRequired: { maxRounds: MOST_QUESTIONS, roundTimeoutMs: LONGEST_SILENCE_MS },
    },
  );
  let isLogged = false;
  if (era === 'legacy')
    server.setRequestHandler('logging/setLevel', ({ params: { level } }) => {
      isLogged = level === 'debug' || level === 'info';
      return {};
    });
  server.setRequestHandler('tools/list', async ({ params }, ctx) => {
    const offered = await listOffered(services.store.db, offer, viewOf(ctx));
    return pageOf(
      offered.map(({ definition }) => definition),
      params?.cursor,
    );
  });
  server.setRequestHandler(
    'tools/call',
    async ({ params }, ctx) =>
      await answer(calling, ctx, () =>
        callTool(calling, { params, ctx, era, capabilities: server.getClientCapabilities(), isLogged }),
      ),
  );
  return server;
}

const PAGE = 500;

/** Cursors are positions. A client reads a list again if it has changed meanwhile. */
function pageOf<T>(all: readonly T[], cursor: string | undefined): { tools: T[]; nextCursor?: string } {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(start) || start < 0)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor');
  const tools = all.slice(start, start + PAGE);
  return { tools, ...(start + PAGE < all.length ? { nextCursor: String(start + PAGE) } : {}) };
}

/**
 * If the message only said that the key was revoked, a model would repeat the call with another key, and it would be done twice.
 */
function keyRevoked(runId: unknown): string {
  const run = typeof runId === 'string' ? `Run ${runId}` : 'Its run';
  return `The key was revoked. ${run} is stored, and continues or has ended. Do not repeat the call.`;
}

/** Expected errors become a result for the client's model to read. Unexpected errors are logged and not shown. */
async function answer(
  { services, stopping, streams }: Serving,
  ctx: ServerContext,
  work: () => Promise<CallToolResult | InputRequiredResult>,
): Promise<CallToolResult | InputRequiredResult> {
  const { signal } = ctx.mcpReq;
  let place: Place | undefined;
  try {
    place = streams.reserve(holderOf(ctx));
    const result = await work();
    // The key is checked again, because the call may have taken hours.
    const isValid = await isKeyValid(services.store.db, keyIdOf(ctx)).catch((error: unknown) => {
      throw afterCommit(error);
    });
    return isValid ? result : failed(keyRevoked(result._meta?.[RUN_ID]));
  } catch (error) {
    if (error instanceof ApiError) return failed(error.message);
    if (error instanceof ProtocolError || signal.aborted || stopping.aborted) throw error;
    if (error instanceof StoreUnavailable) throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
    services.logger.error('A call of an MCP client failed.', error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error.');
  } finally {
    place?.release();
  }
}
