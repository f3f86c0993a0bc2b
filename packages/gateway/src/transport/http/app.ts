import type { Logger } from '@lastcall/core';
import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import { DEFAULT_AGENT_LIMITS } from '../../config/agent-limits.ts';
import { DEFAULT_MCP_EXPOSURE, type McpExposure } from '../../config/mcp-exposure.ts';
import type { IsKnownTool } from '../../domain/agents/check-agent-config.ts';
import { ApiError } from '../../domain/api-error.ts';
import { Attempts } from '../../domain/keys/attempts.ts';
import { KnownKeys } from '../../domain/keys/known-keys.ts';
import type { CheckProgram } from '../../domain/mcp/file-programs.ts';
import { newId } from '../../domain/new-id.ts';
import { Revocations } from '../../domain/streams/revocations.ts';
import type { ToolSource } from '../../domain/tools/listed-tool.ts';
import type { ArtifactFiles } from '../../ports/artifacts/artifact-files.ts';
import type { Services } from '../../ports/services.ts';
import type { Registry } from '../../runtime/cycle/registry.ts';
import { toolCatalog } from '../../runtime/tools/tool-catalog.ts';
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts';
import { inOpenAiShape, isOpenAiPath } from '../compat/openai/openai-error.ts';
import { createOpenStreams } from '../sse/open-streams.ts';
import { createBodyPlaces } from './body-places.ts';
import { addressReader } from './client-address.ts';
import type { Endpoint } from './endpoint.ts';
import { ERROR_CODE_HEADER, errorAnswer } from './error-answer.ts';
import { keepText } from './json-answer.ts';
import { type AppEnv, mount } from './mount.ts';
import { openApiDocument } from './openapi.ts';
import { agentStateEndpoints } from './routes/agent-state.ts';
import { agentEndpoints } from './routes/agents.ts';
import { artifactEndpoints } from './routes/artifacts.ts';
import { chatEndpoints } from './routes/chat.ts';
import { contextEndpoints } from './routes/contexts.ts';
import { entityEndpoints } from './routes/entities.ts';
import { jobEndpoints } from './routes/jobs.ts';
import { keyEndpoints } from './routes/keys.ts';
import { type McpEndpointOptions, mcpEndpoints } from './routes/mcp.ts';
import { mcpServerEndpoints } from './routes/mcp-server.ts';
import { openAiEndpoints } from './routes/openai.ts';
import { pendingEndpoints } from './routes/pending.ts';
import { runEndpoints } from './routes/runs.ts';
import { sessionEndpoints } from './routes/session.ts';
import { spaceEndpoints } from './routes/spaces.ts';
import { type Setup, statusEndpoints } from './routes/status.ts';
import { streamEndpoints } from './routes/streams.ts';
import { systemEndpoints } from './routes/system.ts';
import { toolEndpoints } from './routes/tools.ts';
import { useChatEndpoints } from './routes/use-chat.ts';
import { SECURITY_HEADERS, setSecurityHeaders } from './security-headers.ts';
import { findStudio } from './studio/find-studio.ts';
import { createStudio } from './studio/studio.ts';

export interface AppOptions {
  /** What signs entity tokens: see keys/tokens.ts. */
  readonly tokenSecret: Uint8Array;
  /** Origins whose pages may use the API. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Whether a tool that an agent's configuration names is there. Default: the cycle finds out. */
  readonly isKnownTool?: IsKnownTool;
  /** What tools run with, and those of the configuration file. Default: none. */
  readonly registry?: Registry;
  /** Tools beside those of the file, the registry and the built-in ones: e.g. of MCP servers. */
  readonly toolSources?: readonly ToolSource[];
  /** Whether an agent of the API may start a program as its MCP server. Default: none. */
  readonly checkProgram?: CheckProgram;
  /** The MCP servers of this gateway. Default: none. */
  readonly mcp?: McpEndpointOptions;
  readonly metrics?: Metrics;
  /** Where images are. Default: nowhere. */
  readonly artifacts?: ArtifactFiles;
  /** Of streams, in milliseconds. Default 15,000: proxies cut what is silent for longer. */
  readonly heartbeatMs?: number;
  /** What the MCP server offers, and the host names that it is reached under. Default: everything, under any name. */
  readonly mcpServer?: McpExposure;
  /** What `GET /api/status` and `GET /api/models` tell. Default: of a gateway with the rehearsal alone. */
  readonly setup?: Setup;
  /** How browsers reach the gateway, if not by the address that requests name. */
  readonly publicUrl?: string | undefined;
  /** Addresses and ranges of the proxies whose word is taken for the address of a client. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** The built studio, or false for none. Default: that of the package `@lastcall/studio`, if it is installed. */
  readonly studio?: { readonly directory: string } | false;
  /** Served beside the gateway's own: e.g. those of a later chapter. */
  readonly endpoints?: readonly Endpoint[];
}

/** The HTTP side of one gateway. */
export interface App {
  /** Answers in memory; behind a server it is also given the connection. */
  readonly fetch: (request: Request, env?: unknown) => Response | Promise<Response>;
  readonly metrics: Metrics;
  /** From here on `/ready` says no, and streams end: their clients find another gateway. */
  stop(): void;
}

export function createApp(services: Services, options: AppOptions): App {
  const {
    tokenSecret,
    corsOrigins = [],
    metrics = createMetrics(),
    heartbeatMs = 15_000,
    registry = NO_TOOLS,
    mcpServer: exposure = DEFAULT_MCP_EXPOSURE,
  } = options;
  const streams = createOpenStreams(services.limits, metrics);
  const revocations = new Revocations(services);
  const attempts = new Attempts();
  const lifetime = new AbortController();
  const catalog = toolCatalog(registry, services.limits, options.toolSources);
  // Made when it is first asked for: that takes longer than all else that a start does.
  let document: Promise<unknown> | undefined;
  const own: readonly Endpoint[] = [
    ...entityEndpoints(tokenSecret),
    ...spaceEndpoints,
    ...agentEndpoints(options.isKnownTool, options.checkProgram),
    ...mcpEndpoints(options.mcp),
    ...agentStateEndpoints,
    ...toolEndpoints({ services, registry, catalog }),
    ...runEndpoints,
    ...pendingEndpoints,
    ...jobEndpoints,
    ...keyEndpoints,
    ...sessionEndpoints({ publicUrl: options.publicUrl, attempts }),
    ...artifactEndpoints(options.artifacts),
    ...streamEndpoints({ services, streams, revocations, heartbeatMs }),
    ...openAiEndpoints({ services, streams, revocations, heartbeatMs, registry }),
    ...mcpServerEndpoints({
      services,
      registry,
      streams,
      offer: { catalog, fileTools: registry.tools, exposure },
      secret: tokenSecret,
      stopping: lifetime.signal,
      heartbeatMs,
      hosts: exposure.hosts,
      originHosts: corsOrigins.map((origin) => new URL(origin).hostname),
    }),
    ...chatEndpoints({ services, streams, revocations, heartbeatMs, registry }),
    ...contextEndpoints,
    ...useChatEndpoints({ services, streams, revocations, heartbeatMs, registry }),
    ...statusEndpoints(options.setup ?? NO_SETUP),
    ...systemEndpoints({
      services,
      metrics,
      stopping: lifetime.signal,
      document: () => (document ??= openApiDocument(own)),
    }),
    ...(options.endpoints ?? []),
  ];
  const app = new Hono<AppEnv>();
  observe(app, metrics, services.logger);
  if (corsOrigins.length > 0) app.use(cors({ ...CORS, origin: [...corsOrigins] }));
  mount(app, own, {
    services,
    tokenSecret,
    knownKeys: new KnownKeys(),
    attempts,
    bodyPlaces: createBodyPlaces(services.limits),
    addressOf: addressReader(options.trustedProxies ?? []),
    publicUrl: options.publicUrl,
  });
  const studio = options.studio === false ? undefined : createStudio(options.studio?.directory ?? findStudio());
  const refuse = (error: unknown, c: Context<AppEnv>): Response | Promise<Response> => {
    const answer = errorAnswer(error, { requestId: c.get('requestId'), logger: services.logger });
    return isOpenAiPath(c.req.path) ? inOpenAiShape(answer) : answer;
  };
  app.notFound(async (c) => (await studio?.answer(c.req.raw)) ?? refuse(unknownPath(c.req.path), c));
  app.onError(refuse);
  return {
    fetch: (request, env) => app.fetch(request, (env ?? {}) as AppEnv['Bindings']),
    metrics,
    stop() {
      lifetime.abort();
      streams.stop();
      revocations.stop();
    },
  };
}

const NO_TOOLS: Registry = {
  tools: {},
  agentLimits: {},
  model: () => {
    throw new Error('There is no model.');
  },
};

const NO_SETUP: Setup = {
  gatewayId: 'gateway',
  store: 'unknown',
  model: async () => ({ name: 'rehearsal', why: 'no key found' }),
  problems: async () => [],
  models: async () => [{ name: 'rehearsal', usable: true }],
  agentLimits: DEFAULT_AGENT_LIMITS,
};

/** Outermost: whatever is answered, it is counted and has the headers. */
function observe(app: Hono<AppEnv>, metrics: Metrics, logger: Logger): void {
  app.use(async (c, next) => {
    const startedAt = performance.now();
    const requestId = newId();
    c.set('requestId', requestId);
    await next();
    const json = c.get('json');
    // Hono makes another answer of this one for HEAD, which has its headers and not what is kept for it.
    const isKept =
      json !== undefined &&
      c.req.method !== 'HEAD' &&
      keepText(c.res, json, { ...SECURITY_HEADERS, 'x-request-id': requestId });
    if (!isKept) {
      c.res.headers.set('x-request-id', requestId);
      setSecurityHeaders(c.res.headers);
    }
    const answered = {
      method: METHODS.has(c.req.method) ? c.req.method : 'other',
      // Not the URL: ids of people and tokens are in it.
      route: c.get('route') ?? 'unknown',
      status: c.res.status,
      seconds: (performance.now() - startedAt) / 1_000,
    };
    metrics.httpRequest(answered);
    logger.debug('Answered a request.', { requestId, ...answered });
  });
}

// A method is any word that a client likes: each would be a series of its own, for ever.
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']);

/** What MCP clients in a page send. */
const MCP_HEADERS = ['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

const CORS = {
  allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'],
  allowHeaders: ['authorization', 'content-type', 'last-event-id', 'idempotency-key', ...MCP_HEADERS],
  exposeHeaders: ['x-request-id', 'retry-after', 'last-event-id', 'mcp-session-id', ERROR_CODE_HEADER],
  maxAge: 600,
};

function unknownPath(path: string): ApiError {
  return new ApiError(404, 'not_found', `There is no path ${path.slice(0, 200)}. GET /openapi.json lists all paths.`);
}
