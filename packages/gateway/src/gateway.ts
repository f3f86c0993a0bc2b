import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Logger } from '@lastcall/core';
import { gatewayLimitsOf } from './config/agent-limits.ts';
import { checkConfig } from './config/check-config.ts';
import type { Config, ConfigInput } from './config/config.ts';
import type { Limits } from './config/limits.ts';
import { readEnv } from './config/read-env.ts';
import { findTool } from './config/registered-tool.ts';
import { type Settings, settingsOf } from './config/settings.ts';
import { ensureFirstKey } from './domain/keys/first-key.ts';
import { tokenSecret } from './domain/keys/tokens.ts';
import { sweepsOf } from './domain/sweep.ts';
import { modelFinder } from './models/find-model.ts';
import { openServices } from './open-services.ts';
import type { Services } from './ports/services.ts';
import { atMost } from './runtime/at-most.ts';
import { Worker } from './runtime/worker.ts';
import { seed } from './seed.ts';
import { createLogger } from './telemetry/logger.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createRedact, type Redact, secretsOf } from './telemetry/redact.ts';
import { type App, createApp } from './transport/http/app.ts';
import { type HttpServer, listen } from './transport/http/server.ts';

export interface GatewayOptions extends ConfigInput, RunOptions {}

interface RunOptions {
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly logger?: Logger | undefined;
  /** How one gateway works, for tests and benchmarks: leases, sweeps, bounds. */
  readonly tuning?: Partial<Limits> | undefined;
  /** How hard the embedded store writes. Default FULL: it survives a power cut. */
  readonly synchronous?: 'FULL' | 'NORMAL' | undefined;
}

/** A gateway: agents that sleep, wake, think one cycle and lose nothing, behind HTTP. */
export interface Gateway {
  /** Answers a request without a socket, once the gateway has started. */
  fetch(request: Request): Promise<Response>;
  /** Opens the store, wakes the agents and listens. */
  start(): Promise<void>;
  /** Takes no more, lets cycles finish in their grace time, and leaves the rest to be taken up. */
  stop(): Promise<void>;
  /** Where it listens. Throws before it has started. */
  readonly url: string;
  /** The key that the very first start made: to be shown once. */
  readonly firstKey: string | undefined;
}

/** Checks the configuration at once: what cannot work is refused here, with its path. */
export function createGateway(options: GatewayOptions = {}): Gateway {
  const { env, logger, tuning, synchronous, ...given } = options;
  return gatewayOf(checkConfig(given), { env, logger, tuning, synchronous });
}

/** Of a configuration that was checked when it was loaded: what that gives is no longer what a user may write. */
export function gatewayOf(config: Config, options: RunOptions = {}): Gateway {
  const { env = process.env, logger, tuning, synchronous } = options;
  const settings = settingsOf(readEnv(env), config);
  const redact = createRedact(secretsOf(env, { secretKey: settings.secretKey, secrets: config.secrets }));
  const log = logger ?? createLogger({ level: settings.logLevel, redact });
  // Kept before anything is awaited: whoever starts or stops it meanwhile finds it.
  let starting: Promise<Running> | undefined;
  let running: Running | undefined;
  const isRunning = (): Running => {
    if (running === undefined) throw new Error('The gateway has not started: await gateway.start() first.');
    return running;
  };
  return {
    async fetch(request) {
      return await isRunning().app.fetch(request);
    },
    async start() {
      starting ??= start({ config, settings, logger: log, redact, tuning, synchronous, env });
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
      // A start that fails has closed what it opened.
      const started = await stopping?.catch(() => undefined);
      await started?.stop();
    },
    get url() {
      return isRunning().server.url;
    },
    get firstKey() {
      return isRunning().firstKey;
    },
  };
}

interface Running {
  readonly app: App;
  readonly server: HttpServer;
  readonly firstKey: string | undefined;
  stop(): Promise<void>;
}

interface Starting extends Pick<RunOptions, 'tuning' | 'synchronous'> {
  readonly config: Config;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly redact: Redact;
  readonly env: Readonly<Record<string, string | undefined>>;
}

async function start(starting: Starting): Promise<Running> {
  const { config, settings, logger } = starting;
  const opened = await openServices({
    settings,
    logger,
    limits: limitsOf(starting),
    synchronous: starting.synchronous,
  });
  const { services } = opened;
  try {
    const firstKey = await ensureFirstKey(services, settings);
    await seed(services, config);
    const metrics = createMetrics();
    const app = createApp(services, {
      metrics,
      tokenSecret: await tokenSecret(services.store),
      corsOrigins: config.corsOrigins,
      isKnownTool: (name) => findTool(config.tools, name) !== undefined,
    });
    const worker = new Worker(services, {
      tools: config.tools,
      model: models(starting),
      agentLimits: config.limits.agent ?? {},
      metrics,
      redact: starting.redact,
    });
    metrics.gauge('lastcall_cycles_running', 'Cycles under way now.', () => worker.busy);
    const server = await listen(app, { port: settings.port, host: settings.host, logger });
    await worker.start({ sweeps: sweepsOf(services) });
    return { app, server, firstKey, stop: () => stop({ app, server, worker, close: opened.close }, services) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Requests end first, cycles next, and the store last: whoever writes finds it open. */
async function stop(
  { app, server, worker, close }: { app: App; server: HttpServer; worker: Worker; close: () => Promise<void> },
  { limits }: Services,
): Promise<void> {
  app.stop();
  await Promise.all([server.close({ graceMs: limits.graceMs }), worker.stop()]);
  await atMost(CLOSE_MS, close());
}

/** A connection on which a statement hangs is closed once that has ended: a database that is out of reach may never say so. */
const CLOSE_MS = 5_000;

function models({ config, settings, env }: Starting): (name: string | undefined) => Promise<LanguageModelV4> {
  return modelFinder({ model: settings.model, modelUrl: settings.modelUrl, models: config.models, env });
}

/** What all agents get counts where the gateway itself decides: how long an inbox may be, and when agents stop talking. */
function limitsOf({ config, settings, tuning }: Starting): Limits {
  const { hopLimit: hops, inboxLength } = config.limits.agent ?? {};
  const ofAgents = { ...(hops === undefined ? {} : { hops }), ...(inboxLength === undefined ? {} : { inboxLength }) };
  return { ...gatewayLimitsOf(config.limits, settings.leaseMs), ...ofAgents, ...tuning };
}
