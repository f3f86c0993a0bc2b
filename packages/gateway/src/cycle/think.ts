import type { LanguageModelV4 } from '@ai-sdk/provider';
import {
  cache,
  createSession,
  JournalStalled,
  log,
  type Middleware,
  replay,
  retry,
  runTurn,
  Session,
  type SessionJson,
  Transcript,
  type TurnOptions,
} from '@lastcall/core';
import { renderInstructions, renderSituation } from '../agents/describe-agent.ts';
import type { MiddlewareConfig } from '../config/middleware-config.ts';
import { loadConsciousness } from '../consciousness/load-consciousness.ts';
import { newId } from '../new-id.ts';
import type { Services } from '../services.ts';
import { StoreUnavailable } from '../store/store-error.ts';
import { countEvent, traceCycle } from '../telemetry/observe-cycle.ts';
import { LeaseLost } from '../threads/lease.ts';
import { adoptApproved, adoptShown } from './adopt-shown.ts';
import { compactMind } from './compact-mind.ts';
import type { Cycle } from './cycle.ts';
import { inCycle, type ThinkingContext } from './cycle-context.ts';
import { CycleJournal } from './cycle-journal.ts';
import { cycleTools } from './cycle-tools.ts';
import { failRun } from './fail-run.ts';
import { LiveCalls } from './live-calls.ts';
import { loadSituation } from './load-situation.ts';
import type { Registry } from './registry.ts';
import { showCards } from './show-cards.ts';
import { StagedWriteRefused } from './staged-write-refused.ts';
import { Staging } from './staging.ts';

/** Ends a cycle early. */
export interface CycleAbort {
  readonly signal: AbortSignal;
  /** Somebody asked for the run's end; otherwise this gateway ends, and the run stays to be taken up. */
  isCancelled(): boolean;
}

/**
 * One cycle: a turn of core upon the agent's consciousness, with a journal on the store. What goes wrong in it ends the run as
 * failed, and its events are tried again. Rejects only where the run stays open: the lease is lost, the store is away, or the world
 * changed under a call.
 */
export async function think(services: Services, registry: Registry, cycle: Cycle, abort: CycleAbort): Promise<void> {
  const ending: Ending = { stop: async () => {} };
  let prepared: Prepared | undefined;
  const startedAt = performance.now();
  const count = (status: 'completed' | 'failed' | 'cancelled'): void =>
    registry.metrics?.cycle({ status, seconds: (performance.now() - startedAt) / 1_000 });
  try {
    prepared = await prepare(services, registry, cycle, abort, ending);
    const { turn, context } = prepared;
    await inCycle(context, () => runTurn(turn));
    count(abort.isCancelled() ? 'cancelled' : 'completed');
    await settleDown(services, cycle, prepared, abort);
  } catch (error) {
    if (staysOpen(error)) throw error;
    services.logger.error(`Cycle ${cycle.number} of agent ${cycle.agent.id} failed.`, error);
    await ending.stop();
    await failRun(services, cycle, error);
    count('failed');
    // What it failed of may be how much it carries: then all later ones would fail of it too.
    if (prepared !== undefined) await settleFailed(services, cycle, prepared, abort);
  } finally {
    await ending.stop();
  }
}

/** Ends what a cycle does beside its turn: nothing of it is written after that. */
interface Ending {
  stop: () => Promise<void>;
}

/** From what the store has, whatever the turn knew when it failed. */
async function settleFailed(services: Services, cycle: Cycle, { model }: Prepared, abort: CycleAbort): Promise<void> {
  const mind = await services.store.transaction((tx) => loadConsciousness(tx.db, cycle.lease.threadId));
  const { entries, records, nextSeq } = mind;
  const left: Cycle = { ...cycle, transcript: new Transcript(entries), records, nextSeq };
  await settleDown(services, left, { model, session: restoreSession(left) }, abort);
}

/** The run is over: what goes wrong from here on is no failure of it, and the next cycle tries again. */
async function settleDown(
  services: Services,
  cycle: Cycle,
  { model, session }: Pick<Prepared, 'model' | 'session'>,
  abort: CycleAbort,
): Promise<void> {
  if (cycle.isFree) return;
  try {
    await compactMind(services, cycle, { model, session, signal: abort.signal });
  } catch (error) {
    if (staysOpen(error)) throw error;
    services.logger.error(`The consciousness of agent ${cycle.agent.id} could not be compacted.`, error);
  }
}

function staysOpen(error: unknown): boolean {
  return (
    error instanceof LeaseLost ||
    error instanceof StoreUnavailable ||
    error instanceof StagedWriteRefused ||
    // Whether the last write is in the store is not known: whoever takes the run up reads it there.
    error instanceof JournalStalled
  );
}

interface Prepared {
  readonly turn: TurnOptions;
  readonly model: LanguageModelV4;
  readonly session: Session;
  readonly context: ThinkingContext;
}

async function prepare(
  services: Services,
  registry: Registry,
  cycle: Cycle,
  abort: CycleAbort,
  ending: Ending,
): Promise<Prepared> {
  const { config, tag, limits } = cycle.agent;
  const staging = new Staging();
  const given = cycleTools(registry, config, services.limits);
  const flusher = new Flusher(() => journal.perform(async () => {}), services);
  const live = new LiveCalls(services, cycle, {
    isVisible: (name) => given.named(name)?.isVisible === true,
    onShown: () => flusher.soon(),
  });
  let situation = renderSituation(cycle.situation, { tag });
  const journal = new CycleJournal({
    services,
    cycle,
    live,
    staging,
    toolNamed: given.named,
    isCancelled: abort.isCancelled,
    signal: abort.signal,
    async onStaged() {
      const changed = await services.store.transaction((tx) => loadSituation(tx.db, cycle.agent.id));
      situation = renderSituation(changed, { tag });
    },
  });
  ending.stop = async () => {
    flusher.stop();
    await journal.close();
  };
  await adoptApproved(services, cycle, live);
  if (cycle.isTakenOver) await adoptShown(services, cycle, { live, journal });
  const session = restoreSession(cycle);
  const model = await registry.model(config.model);
  const turn: TurnOptions = {
    model,
    instructions: renderInstructions({ instructions: config.instructions, tag }),
    transcript: cycle.transcript,
    answers: cycle.answers,
    tools: given.tools,
    session,
    ...rulesOf(cycle),
    onPending: 'continue',
    observe: () => situation,
    onEvent(event) {
      live.hear(event);
      if (registry.metrics !== undefined) countEvent(registry.metrics, event, { model: model.modelId });
    },
    maxSteps: limits.maxSteps,
    deadline: Date.now() + limits.cycleTimeoutMs,
    budget: { tokens: limits.tokensPerCycle },
    signal: abort.signal,
    middleware: [
      ...traceCycle(model.modelId),
      ...(given.isAnyVisible ? [showCards(services, cycle, { journal, live, named: given.named })] : []),
      ...toMiddleware(config.middleware, services),
    ],
    journal,
    newId,
    logger: services.logger,
  };
  const context: ThinkingContext = {
    services,
    cycle,
    runId: cycle.runId,
    agent: cycle.agent,
    stage: (ctx, write) => staging.stage(ctx, write),
  };
  return { turn, model, session, context };
}

/** As the last cycle left it. */
function restoreSession({ state, records }: Cycle): Session {
  const session =
    state === undefined ? createSession() : Session.fromJSON(state.session as SessionJson, { slices: [] });
  replay(
    session,
    records.filter(({ seq }) => state === undefined || seq > state.seq),
  );
  return session;
}

function rulesOf({ agent: { config } }: Cycle): Pick<TurnOptions, 'batch' | 'terminating'> {
  // It was read from JSON, so that no field is there and undefined.
  const { batch, terminating } = config as unknown as Pick<TurnOptions, 'batch' | 'terminating'>;
  return { ...(batch === undefined ? {} : { batch }), ...(terminating === undefined ? {} : { terminating }) };
}

function toMiddleware(configs: readonly MiddlewareConfig[] = [], { logger }: Services): Middleware[] {
  return configs.map((config) => {
    if (config === 'log') return log(logger);
    if ('cache' in config) return cache({ ttlMs: config.cache.ttlMs });
    const { attempts, backoffMs = 0 } = config.retry;
    return retry({ attempts, backoff: (attempt) => backoffMs * 2 ** (attempt - 1) });
  });
}

/** At most twenty times a second, and not at all while the cycle's own transactions take along what is shown. */
const FLUSH_MS = 50;

/** Writes out what is shown of a reply that takes its time. */
class Flusher {
  readonly #flush: () => Promise<void>;
  readonly #services: Services;
  #timer: NodeJS.Timeout | undefined;

  constructor(flush: () => Promise<void>, services: Services) {
    this.#flush = flush;
    this.#services = services;
  }

  soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush().catch((error: unknown) =>
        this.#services.logger.debug('What was shown could not be written yet.', error),
      );
    }, FLUSH_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
