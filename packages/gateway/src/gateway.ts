import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Logger, type SharedResources, sharedResources } from '@lastcall/core';
import { resolveAgentLimits, resolveGatewayLimits } from './config/agent-limits.ts';
import { checkConfig } from './config/check-config.ts';
import type { Config, ConfigInput } from './config/config.ts';
import { offeredBy } from './config/known-tool.ts';
import type { GatewayLimits } from './config/limits.ts';
import type { McpExposure } from './config/mcp-exposure.ts';
import { readEnv } from './config/read-env.ts';
import { resolveSettings, type Settings } from './config/settings.ts';
import { sweepUploads } from './domain/artifacts/upload.ts';
import type { Hooks } from './domain/hooks/hook.ts';
import { ensureFirstKey } from './domain/keys/first-key.ts';
import { createSeal } from './domain/keys/seal.ts';
import { createSignInCode } from './domain/keys/sign-in-link.ts';
import { tokenSecret } from './domain/keys/tokens.ts';
import { filePrograms } from './domain/mcp/file-programs.ts';
import { McpCredentials } from './domain/mcp/mcp-credentials.ts';
import type { OpenTargets } from './domain/notify/notify-target.ts';
import { EVERYTHING } from './domain/projects/view.ts';
import { sweepsOf } from './domain/sweep.ts';
import { logHiddenTools } from './domain/tools/hidden-tools.ts';
import { releaseHeld } from './domain/usage/hold-events.ts';
import { listModels } from './models/list-models.ts';
import { createEgress } from './ports/egress/egress.ts';
import type { Services } from './ports/services.ts';
import { JobAnnouncements } from './runtime/jobs/job-announcements.ts';
import { Deliveries } from './runtime/notify/deliveries.ts';
import { atMost } from './runtime/tools/at-most.ts';
import { McpLogin } from './runtime/tools/mcp/mcp-login.ts';
import { McpServers } from './runtime/tools/mcp/mcp-servers.ts';
import { mcpToolSource } from './runtime/toolset/mcp-tool-source.ts';
import type { Registry } from './runtime/toolset/registry.ts';
import { Worker } from './runtime/worker.ts';
import { checkBucket } from './start/check-bucket.ts';
import { findFirstPerson } from './start/first-person.ts';
import type { Found } from './start/found.ts';
import { lookAround } from './start/look-around.ts';
import { openHooks } from './start/open-hooks.ts';
import { openArtifacts, openImageModels, openModels } from './start/open-models.ts';
import { openServices } from './start/open-services.ts';
import { openTargets } from './start/open-targets.ts';
import { retryInvalidAgents } from './start/retry-invalid.ts';
import { seed } from './start/seed.ts';
import { KnownSecrets } from './telemetry/known-secrets.ts';
import { createLogger, type LoggerOptions } from './telemetry/logger.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createRedact, type Redact, secretValues } from './telemetry/redact.ts';
import { createSecrets, type Secrets } from './telemetry/secrets.ts';
import { type App, createApp } from './transport/http/app.ts';
import { demoEndpoints } from './transport/http/routes/demo.ts';
import { MCP_CALLBACK } from './transport/http/routes/mcp.ts';
import { linkUrl } from './transport/http/routes/session.ts';
import { type HttpServer, listen } from './transport/http/server.ts';

export interface GatewayOptions extends ConfigInput, RunOptions {}

interface RunOptions {
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly logger?: Logger | undefined;
  /** Where the gateway's logger writes, and whether log lines about messages contain their text. */
  readonly log?: Pick<LoggerOptions, 'destination' | 'texts'> | undefined;
  /** Limits that override all others, for tests and benchmarks. */
  readonly tuning?: Partial<GatewayLimits> | undefined;
  /** What is stored on SQLite survives a power cut (FULL, the default), or only the death of the process (NORMAL). */
  readonly synchronous?: 'FULL' | 'NORMAL' | undefined;
}

/** Options that `createGateway` does not take. */
interface CheckedRunOptions extends RunOptions {
  /** Kills this process, to show what survives a crash. Only the demo of the command line sets it. */
  readonly crash?: (() => void) | undefined;
  /** Replaces each model, e.g. with one that records its replies. Only the command line sets it. */
  readonly tapModel?: ((model: LanguageModelV4) => LanguageModelV4) | undefined;
}

/** Runs agents and serves the HTTP API. */
export interface Gateway {
  /** Answers a request without a socket, once the gateway has started. */
  fetch(request: Request): Promise<Response>;
  /** Opens the store, wakes the agents and listens. */
  start(): Promise<void>;
  /**
   * Accepts nothing new, lets runs finish in the grace time, and leaves the rest for the next start or another
   * gateway.
   */
  stop(): Promise<void>;
  /** The URL it listens on. Throws before the gateway has started. */
  readonly url: string;
  /** The key that the very first start created. It is shown only once. */
  readonly firstKey: string | undefined;
  /** What it found when it started. */
  readonly found: Found;
  /**
   * Makes a link that signs one browser in to the studio, once, within 15 minutes: with all rights, for the first person of the
   * configuration. Undefined unless the gateway listens on a loopback address: elsewhere ask for one with a key.
   */
  signInLink(): Promise<string | undefined>;
}

/** Creates a gateway. The configuration is checked at once: one that cannot work is refused here, with its path. */
export function createGateway(options: GatewayOptions = {}): Gateway {
  const { env, logger, log, tuning, synchronous, ...configInput } = options;
  return createCheckedGateway(checkConfig(configInput), { env, logger, log, tuning, synchronous });
}

/** Creates a gateway from a checked configuration, which is no longer in the form that a user writes. */
export function createCheckedGateway(config: Config, options: CheckedRunOptions = {}): Gateway {
  const { env = process.env, logger, tuning, synchronous, crash, tapModel } = options;
  const settings = resolveSettings(readEnv(env, config), config);
  const known = new KnownSecrets(secretValues(env, { secretKey: settings.secretKey, secrets: config.secrets }));
  const secrets = createSecrets({ env, names: config.secrets, known });
  const hooks = openHooks(config.hooks, secrets);
  const targets = openTargets(config.notify, secrets);
  const redact = createRedact(known);
  const log = logger ?? createLogger({ level: settings.logLevel, redact, ...options.log });
  // Set before anything is awaited, so that a concurrent start or stop finds it.
  let starting: Promise<Running> | undefined;
  let running: Running | undefined;
  const requireRunning = (): Running => {
    if (running === undefined) throw new Error('The gateway has not started: await gateway.start() first.');
    return running;
  };
  return {
    async fetch(request) {
      return await requireRunning().app.fetch(request);
    },
    async start() {
      starting ??= start({
        ...{
          config,
          settings,
          logger: log,
          secrets,
          hooks,
          targets,
          redact,
          tuning,
          synchronous,
          crash,
          tapModel,
          env,
        },
      });
      const own = starting;
      try {
        const started = await own;
        if (starting === own) running = started;
      } catch (error) {
        if (starting === own) starting = undefined;
        throw error;
      }
    },
    async stop() {
      const stopping = starting;
      starting = undefined;
      running = undefined;
      // A failed start has closed what it opened.
      const started = await stopping?.catch(() => undefined);
      await started?.stop();
    },
    get url() {
      return requireRunning().server.url;
    },
    get firstKey() {
      return requireRunning().firstKey;
    },
    get found() {
      return requireRunning().found;
    },
    async signInLink() {
      return await requireRunning().signInLink();
    },
  };
}

interface Running {
  readonly app: App;
  readonly server: HttpServer;
  readonly firstKey: string | undefined;
  readonly found: Found;
  signInLink(): Promise<string | undefined>;
  stop(): Promise<void>;
}

interface Starting extends Pick<CheckedRunOptions, 'tuning' | 'synchronous' | 'crash' | 'tapModel'> {
  readonly config: Config;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly secrets: Secrets;
  readonly hooks: Hooks;
  readonly targets: OpenTargets;
  readonly redact: Redact;
  readonly env: Readonly<Record<string, string | undefined>>;
}

async function start(starting: Starting): Promise<Running> {
  const { config, settings, logger } = starting;
  const opened = await openServices({
    settings,
    logger,
    limits: gatewayLimits(starting),
    prices: config.prices,
    currency: config.currency,
    synchronous: starting.synchronous,
  });
  const { services, scheduler } = opened;
  const egress = createEgress({ allow: config.egress.allow });
  const outgoing = { egress, secrets: starting.secrets };
  const shared = sharedResources({ logger });
  let mcp: McpServers | undefined;
  const closing = new AbortController();
  const close = async (): Promise<void> => {
    closing.abort();
    await mcp?.close();
    await egress.close();
    await opened.close();
  };
  try {
    const firstKey = await ensureFirstKey(services, settings);
    await seed(services, config);
    await retryInvalidAgents(services);
    // A limit of the configuration may have been raised.
    await services.store.transaction((tx) => releaseHeld(tx));
    await logHiddenTools(services, Object.keys(config.tools));
    const artifacts = openArtifacts(starting, egress);
    const models = openModels(starting, artifacts);
    const found = await lookAround({ store: services.store, config, settings, models });
    for (const problem of found.problems) logger.warn(problem);
    const metrics = createMetrics();
    const seal = await createSeal(services.store, settings.encryptionKey);
    const address: { url?: string } = {};
    const login = new McpLogin({
      credentials: new McpCredentials(services.store, seal),
      outgoing,
      redirectUrl: () => new URL(MCP_CALLBACK, settings.publicUrl ?? address.url).href,
    });
    const checkProgram = filePrograms(config.agents);
    const servers = new McpServers(services, { outgoing, login, checkProgram });
    mcp = servers;
    const registry: Registry = {
      tools: config.tools,
      definitions: config.definitions,
      model: models.find,
      agentLimits: config.limits.agent ?? {},
      personLimits: config.limits.person,
      tracing: config.tracing,
      metrics,
      shared,
      redact: starting.redact,
      outgoing,
      seal,
      mcp: servers,
      images: { model: openImageModels(starting, egress), files: artifacts },
    };
    const worker = new Worker(services, registry, scheduler);
    const secret = await tokenSecret(services.store);
    const deliveries = new Deliveries(services, {
      targets: starting.targets,
      egress,
      metrics,
      redact: starting.redact,
      linkSecret: secret,
      baseUrl: () => settings.publicUrl ?? address.url ?? '',
    });
    const jobs = new JobAnnouncements(services, outgoing);
    const app = createApp(services, {
      metrics,
      artifacts,
      tokenSecret: secret,
      corsOrigins: config.corsOrigins,
      publicUrl: settings.publicUrl,
      trustedProxies: settings.trustedProxies,
      offered: offeredBy(config),
      checkProgram,
      mcp: { status: (view) => servers.status(view), finishLogin: (query) => login.finish(query) },
      registry,
      hooks: starting.hooks,
      targets: starting.targets,
      mcpServer: { ...config.mcpServer, hosts: mcpHosts(config.mcpServer, settings) },
      toolSources: [mcpToolSource(servers)],
      setup: {
        gatewayId: worker.id,
        store: found.store,
        model: () => models.default,
        problems: () => models.problems(config.agents.map(({ model }) => model)),
        models: () => listModels(models, Object.keys(config.models)),
        agentLimits: resolveAgentLimits(config.limits.agent, services.limits),
        currency: config.currency,
        definitions: Object.values(config.definitions).map(({ name, machine }) => ({
          name,
          machine: machine !== undefined,
        })),
        canCrash: starting.crash !== undefined,
      },
      endpoints: demoEndpoints(starting.crash),
    });
    metrics.gauge('lastcall_runs_running', 'Runs under way now.', () => worker.busy);
    const server = await listen(app, { port: settings.port, host: settings.host, logger });
    address.url = server.url;
    const sweeps = [
      ...sweepsOf({ ...services, files: artifacts }),
      () => sweepUploads(services, artifacts),
      // The clocks of this machine and of the database drift apart, and this machine may have slept.
      () => services.store.ping(),
      () => jobs.tick(),
      () => deliveries.tick(),
    ];
    await worker.start({ sweeps });
    // Not awaited: only what stores files needs the bucket, and it may come back.
    void checkBucket(config, artifacts).catch((error: Error) => {
      if (!closing.signal.aborted) logger.error(error.message);
    });
    return {
      ...{ app, server, firstKey, found },
      signInLink: () => signInLink(services, starting, server.url),
      stop: () => stop({ app, server, worker, jobs, deliveries, shared, close }, services),
    };
  } catch (error) {
    await shared.dispose();
    await close();
    throw error;
  }
}

/**
 * A gateway on a loopback address is reached under the names of its machine and under the host names of a proxy in front of it.
 */
function mcpHosts({ hosts }: McpExposure, { host }: Settings): readonly string[] | undefined {
  return LOOPBACK.includes(host) ? [...LOOPBACK, '[::1]', ...(hosts ?? [])] : hosts;
}

/** Only a gateway on a loopback address prints a link: users who can read its output already have full access to that machine. */
async function signInLink(
  { store }: Services,
  { config, settings }: Starting,
  url: string,
): Promise<string | undefined> {
  if (!LOOPBACK.includes(settings.host)) return undefined;
  const maker = { scopes: ['admin'] as const, keyId: undefined, sessionId: undefined, view: EVERYTHING };
  const { code } = await store.transaction(async (tx) => {
    const entityId = await findFirstPerson(tx, config);
    return await createSignInCode(tx, { entityId, scopes: maker.scopes, maker });
  });
  return linkUrl(url, code);
}

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/** Stops requests and runs first and the store last, so that everything that still writes finds it open. */
async function stop(
  { app, server, worker, jobs, deliveries, shared, close }: Stopping,
  { limits }: Services,
): Promise<void> {
  app.stop();
  await Promise.all([server.close({ graceMs: limits.graceMs }), worker.stop()]);
  await Promise.all([jobs.stop(), deliveries.stop()]);
  // It has its own time limit.
  await shared.dispose();
  await atMost(CLOSE_MS, close());
}

interface Stopping {
  readonly app: App;
  readonly server: HttpServer;
  readonly worker: Worker;
  readonly jobs: JobAnnouncements;
  readonly deliveries: Deliveries;
  readonly shared: SharedResources;
  readonly close: () => Promise<void>;
}

/**
 * The longest wait for the store to close. A connection closes once its statement has ended, and an unreachable database may
 * never end it.
 */
const CLOSE_MS = 5_000;

/** The agents' defaults for inbox length and hop limit also apply where the gateway itself decides. */
function gatewayLimits({ config, settings, targets, tuning }: Starting): GatewayLimits {
  const { hopLimit, inboxLength } = config.limits.agent ?? {};
  const fromAgentDefaults = {
    ...(hopLimit === undefined ? {} : { hopLimit }),
    ...(inboxLength === undefined ? {} : { inboxLength }),
  };
  // Without targets, nothing is stored for them.
  const fromTargets = targets.size === 0 ? { pendingNotifications: 0 } : {};
  return {
    ...resolveGatewayLimits(config.limits, settings.leaseMs, config.retention),
    ...fromAgentDefaults,
    ...fromTargets,
    ...tuning,
  };
}
