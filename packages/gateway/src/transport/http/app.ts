import type { Logger } from '@lastcall/core';
import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import { DEFAULT_AGENT_LIMITS } from '../../config/agent-limits.ts';
import type { Offered } from '../../config/known-tool.ts';
import { DEFAULT_MCP_EXPOSURE, type McpExposure } from '../../config/mcp-exposure.ts';
import { ApiError } from '../../domain/api-error.ts';
import type { Hooks } from '../../domain/hooks/hook.ts';
import { Attempts } from '../../domain/keys/attempts.ts';
import { KnownKeys } from '../../domain/keys/known-keys.ts';
import type { CheckProgram } from '../../domain/mcp/file-programs.ts';
import { newId } from '../../domain/new-id.ts';
import type { OpenTargets } from '../../domain/notify/notify-target.ts';
import { Revocations } from '../../domain/streams/revocations.ts';
import type { ToolSource } from '../../domain/tools/listed-tool.ts';
import type { ArtifactFiles } from '../../ports/artifacts/artifact-files.ts';
import type { Services } from '../../ports/services.ts';
import type { Registry } from '../../runtime/toolset/registry.ts';
import { toolCatalog } from '../../runtime/toolset/tool-catalog.ts';
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts';
import { insteadOf } from '../openai/not-offered.ts';
import { inOpenAiShape, isOpenAiPath } from '../openai/openai-error.ts';
import { createOpenStreams } from '../sse/open-streams.ts';
import { createBodyPlaces } from './body-places.ts';
import { addressReader } from './client-address.ts';
import type { Endpoint } from './endpoint.ts';
import { ERROR_CODE_HEADER, errorAnswer } from './error-answer.ts';
import { keepText } from './json-answer.ts';
import { type AppEnv, mount } from './mount.ts';
import { openApiDocument } from './openapi.ts';
import { PROJECT_HEADER } from './project-rules.ts';
import { agentStateEndpoints } from './routes/agent-state.ts';
import { agentEndpoints } from './routes/agents.ts';
import { artifactEndpoints } from './routes/artifacts.ts';
import { auditEndpoints } from './routes/audit.ts';
import { chatEndpoints } from './routes/chat.ts';
import { conversationEndpoints } from './routes/conversations.ts';
import { draftEndpoints } from './routes/drafts.ts';
import { entityEndpoints } from './routes/entities.ts';
import { erasureEndpoints } from './routes/erasures.ts';
import { evaluationEndpoints } from './routes/evaluations.ts';
import { exportEndpoints } from './routes/export.ts';
import { fileEndpoints } from './routes/files.ts';
import { forkEndpoints } from './routes/forks.ts';
import { grantEndpoints } from './routes/grants.ts';
import { homeEndpoints } from './routes/home.ts';
import { hookEndpoints } from './routes/hooks.ts';
import { jobEndpoints } from './routes/jobs.ts';
import { keyEndpoints } from './routes/keys.ts';
import { machineEndpoints } from './routes/machine.ts';
import { type McpEndpointOptions, mcpEndpoints } from './routes/mcp.ts';
import { mcpServerEndpoints } from './routes/mcp-server.ts';
import { notificationEndpoints } from './routes/notifications.ts';
import { openAiEndpoints } from './routes/openai.ts';
import { waitingCallEndpoints } from './routes/pending.ts';
import { planEndpoints } from './routes/plans.ts';
import { projectEndpoints } from './routes/projects.ts';
import { runEndpoints } from './routes/runs.ts';
import { searchEndpoints } from './routes/search.ts';
import { sessionEndpoints } from './routes/session.ts';
import { spaceEndpoints } from './routes/spaces.ts';
import { type Setup, statusEndpoints } from './routes/status.ts';
import { streamEndpoints } from './routes/streams.ts';
import { systemEndpoints } from './routes/system.ts';
import { toolEndpoints } from './routes/tools.ts';
import { usageEndpoints } from './routes/usage.ts';
import { useChatEndpoints } from './routes/use-chat.ts';
import { SECURITY_HEADERS, setSecurityHeaders } from './security-headers.ts';
import { findStudio } from './studio/find-studio.ts';
import { createStudio } from './studio/studio.ts';

export interface AppOptions {
  /** The secret that signs entity tokens: see keys/tokens.ts. */
  readonly tokenSecret: Uint8Array;
  /** Origins whose pages may use the API. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Checks whether a tool that an agent's configuration names exists. Default: not checked until the run. */
  readonly offered?: Offered | undefined;
  /** The environment of tools, and the tools of the configuration file. Default: none. */
  readonly registry?: Registry;
  /** Tools in addition to those of the file, the registry and the built-in ones, e.g. tools of MCP servers. */
  readonly toolSources?: readonly ToolSource[];
  /**
   * Checks whether an agent that is created over the API may start a program as its MCP server. Default: no program is allowed.
   */
  readonly checkProgram?: CheckProgram;
  /** The MCP servers of this gateway. Default: none. */
  readonly mcp?: McpEndpointOptions;
  readonly metrics?: Metrics;
  /** Where images are stored. Default: nowhere. */
  readonly artifacts?: ArtifactFiles;
  /**
   * The interval between heartbeats of a stream, in milliseconds. Default 15,000: proxies cut connections that are silent for
   * longer.
   */
  readonly heartbeatMs?: number;
  /** What the MCP server offers, and the host names that it answers to. Default: everything, under any name. */
  readonly mcpServer?: McpExposure;
  /** The hooks of the configuration. Default: none. */
  readonly hooks?: Hooks;
  /** Where people are notified. Default: nowhere. */
  readonly targets?: OpenTargets;
  /** What `GET /api/status` and `GET /api/models` report. Default: a gateway with only the rehearsal. */
  readonly setup?: Setup;
  /** The URL under which browsers reach the gateway, if it differs from the address in their requests. */
  readonly publicUrl?: string | undefined;
  /** Addresses and ranges of the proxies that are trusted to report the client's address. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** The built studio, or false for none. Default: that of the package `@lastcall/studio`, if it is installed. */
  readonly studio?: { readonly directory: string } | false;
  /** Endpoints that are served in addition to the gateway's own. */
  readonly endpoints?: readonly Endpoint[];
}

/** The HTTP server of one gateway, without its socket. */
export interface App {
  /** Answers a request in memory. Behind a server it also receives the connection. */
  readonly fetch: (request: Request, env?: unknown) => Response | Promise<Response>;
  readonly metrics: Metrics;
  /** Afterwards `/ready` fails, and streams end so that their clients connect to another gateway. */
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
  // Created on the first request, because it takes longer than the rest of the start.
  let document: Promise<unknown> | undefined;
  const own: readonly Endpoint[] = [
    ...entityEndpoints(tokenSecret),
    ...spaceEndpoints,
    ...agentEndpoints(options.offered, options.checkProgram),
    ...mcpEndpoints(options.mcp),
    ...agentStateEndpoints,
    ...planEndpoints(registry),
    ...machineEndpoints({ services, registry }),
    ...fileEndpoints(registry),
    ...forkEndpoints(registry, options.offered),
    ...draftEndpoints({ registry, offered: options.offered, checkProgram: options.checkProgram }),
    ...evaluationEndpoints,
    ...toolEndpoints({ services, registry, catalog }),
    ...runEndpoints,
    ...usageEndpoints,
    ...homeEndpoints,
    ...auditEndpoints(services),
    ...exportEndpoints(services),
    ...erasureEndpoints,
    ...waitingCallEndpoints,
    ...grantEndpoints,
    ...searchEndpoints,
    ...jobEndpoints,
    ...projectEndpoints,
    ...keyEndpoints,
    ...sessionEndpoints({ publicUrl: options.publicUrl, attempts }),
    ...notificationEndpoints({ targets: options.targets ?? new Map(), secret: tokenSecret, attempts }),
    ...artifactEndpoints(options.artifacts, tokenSecret),
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
    ...conversationEndpoints,
    ...useChatEndpoints({ services, streams, revocations, heartbeatMs, registry }),
    ...hookEndpoints(options.hooks ?? new Map()),
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
  app.notFound(async (c) => (await studio?.answer(c.req.raw)) ?? refuse(unknownPath(c.req), c));
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
  definitions: [],
};

/** The outermost middleware: it counts every response and sets its headers. */
function observe(app: Hono<AppEnv>, metrics: Metrics, logger: Logger): void {
  app.use(async (c, next) => {
    const startedAt = performance.now();
    const requestId = newId();
    c.set('requestId', requestId);
    await next();
    const json = c.get('json');
    // For HEAD, Hono creates another response with the same headers but without the text that is kept for this one.
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
      // The route is logged instead of the URL, which contains ids of people and tokens.
      route: c.get('route') ?? 'unknown',
      status: c.res.status,
      seconds: (performance.now() - startedAt) / 1_000,
    };
    metrics.httpRequest(answered);
    logger.debug('Answered a request.', { requestId, ...answered });
  });
}

// A client can send any word as the method. Each would create a separate time series that never ends.
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Headers that MCP clients in a web page send. */
const MCP_HEADERS = ['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/** Headers that the package `openai` sends with each request, in a web page too. */
const STAINLESS_HEADERS = [
  ...['arch', 'lang', 'os', 'package-version', 'runtime', 'runtime-version'],
  ...['retry-count', 'timeout', 'helper-method', 'poll-helper', 'custom-poll-interval'],
].map((name) => `x-stainless-${name}`);

const OWN_HEADERS = [
  ...['authorization', 'content-type', 'last-event-id', 'idempotency-key', 'x-lastcall-effects'],
  PROJECT_HEADER,
];

const CORS = {
  allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowHeaders: [...OWN_HEADERS, ...MCP_HEADERS, ...STAINLESS_HEADERS],
  exposeHeaders: [
    ...['x-request-id', 'x-run-id', 'x-context-id', 'retry-after', 'last-event-id', 'mcp-session-id'],
    // The client's clock.
    ...['date', ERROR_CODE_HEADER],
    // Without it, the package `openai` in a page repeats requests that cannot succeed.
    'x-should-retry',
  ],
  maxAge: 600,
};

function unknownPath({ method, path }: { readonly method: string; readonly path: string }): ApiError {
  const instead = isOpenAiPath(path) ? insteadOf(method, path) : 'GET /openapi.json lists all paths.';
  return new ApiError('not_found', `There is no path ${path.slice(0, 200)}. ${instead}`);
}
