import type { LanguageModelV4 } from '@ai-sdk/provider';
import {
  createSession,
  JournalStalled,
  type Logger,
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
import type { MiddlewareConfig } from '../../config/middleware-config.ts';
import { renderInstructions, renderSituation, type Situation } from '../../domain/agents/describe-agent.ts';
import { loadConsciousness } from '../../domain/consciousness/load-consciousness.ts';
import { StaleTranscript } from '../../domain/consciousness/stale-transcript.ts';
import { newId } from '../../domain/new-id.ts';
import { RunCancelled } from '../../domain/runs/run-cancelled.ts';
import type { Services } from '../../ports/services.ts';
import { retryWhileUnavailable } from '../../ports/store/retry-while-unavailable.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { hideTagIn } from '../../telemetry/hide-tag.ts';
import { KnownSecrets } from '../../telemetry/known-secrets.ts';
import { countEvent, traceCycle } from '../../telemetry/observe-cycle.ts';
import { withoutTag } from '../../telemetry/without-tag.ts';
import { LeaseLost } from '../lease.ts';
import { compactConsciousness } from './compact-consciousness.ts';
import type { Cycle } from './cycle.ts';
import { type CycleContext, runInCycle } from './cycle-context.ts';
import { CycleInterrupted } from './cycle-interrupted.ts';
import { CycleJournal } from './cycle-journal.ts';
import { cycleTools } from './cycle-tools.ts';
import { failRun } from './fail-run.ts';
import { guardModel } from './guard-model.ts';
import { LiveCalls } from './live-calls.ts';
import { loadSituation } from './load-situation.ts';
import { createOutputLimit } from './output-limit.ts';
import { recoverApprovedCalls, recoverLiveCalls } from './recover-live-calls.ts';
import type { WorkerRegistry } from './registry.ts';
import { removeSecrets, withoutSecrets } from './remove-secrets.ts';
import { showCards } from './show-cards.ts';
import { StagedWriteRefused } from './staged-write-refused.ts';
import { StagedWrites } from './staged-writes.ts';
import type { CacheSettings } from './tool-caches.ts';

/** How a cycle is ended early. */
export interface CycleAbort {
  readonly signal: AbortSignal;
  /**
   * True if somebody asked to cancel the run. Otherwise this gateway cannot continue, and the run stays open for
   * another worker.
   */
  isCancelled(): boolean;
  /** Aborts the cycle and leaves the run open. `runCycle` then rejects with the reason. */
  interrupt(reason: Error): void;
}

/**
 * Runs one cycle: a turn of core on the agent's consciousness, with a journal on the store. If it fails, the run ends
 * as failed and its events are tried again. It rejects only if the run stays open: the lease is lost, the store is
 * unavailable, the gateway stops, a staged write was refused, or a cancel was accepted before a call's write.
 */
export async function runCycle(
  services: Services,
  registry: WorkerRegistry,
  cycle: Cycle,
  abort: CycleAbort,
): Promise<void> {
  const cleanup: CycleCleanup = { stop: async () => {} };
  let prepared: PreparedTurn | undefined;
  const startedAt = performance.now();
  const countCycle = (): void => {
    const { endedAs: status } = cycle;
    if (status !== undefined) registry.metrics?.cycle({ status, seconds: (performance.now() - startedAt) / 1_000 });
  };
  try {
    prepared = await prepareTurn(services, registry, cycle, abort, cleanup);
    const { turn, context } = prepared;
    await runInCycle(context, () => runTurn(turn));
    countCycle();
    await compactAfterRun(services, cycle, prepared, abort);
  } catch (error) {
    if (leavesRunOpen(error)) throw error;
    // A provider's error may quote the prompt, and with it the frame tag.
    const safeError = hideTagIn(error, cycle.agent.tag);
    services.logger.error(`Cycle ${cycle.number} of agent ${cycle.agent.id} failed.`, safeError);
    await cleanup.stop();
    await failRun(services, cycle, error, registry.redact);
    countCycle();
    // The cycle may have failed because the transcript is too large. Without compaction all later cycles would fail
    // too.
    if (prepared !== undefined) await compactAfterFailure(services, cycle, prepared, abort);
  } finally {
    await cleanup.stop();
  }
}

/** Stops what a cycle does beside its turn. Nothing is written after that. */
interface CycleCleanup {
  stop: () => Promise<void>;
}

/** Compacts what is stored, because the failed turn may not know of the last writes. */
async function compactAfterFailure(
  services: Services,
  cycle: Cycle,
  { model }: PreparedTurn,
  abort: CycleAbort,
): Promise<void> {
  await tryCompacting(services, cycle, async () => {
    const consciousness = await services.store.transaction((tx) => loadConsciousness(tx.db, cycle.lease.threadId));
    const { entries, records, nextSeq } = consciousness;
    const stored: Cycle = { ...cycle, transcript: new Transcript(entries), records, nextSeq };
    await compactConsciousness(services, stored, { model, session: restoreSession(stored), signal: abort.signal });
  });
}

async function compactAfterRun(
  services: Services,
  cycle: Cycle,
  { model, session }: Pick<PreparedTurn, 'model' | 'session'>,
  abort: CycleAbort,
): Promise<void> {
  await tryCompacting(services, cycle, () =>
    compactConsciousness(services, cycle, { model, session, signal: abort.signal }),
  );
}

/** The run is over, so an error here does not fail it. The next cycle tries again. */
async function tryCompacting(services: Services, cycle: Cycle, compacting: () => Promise<void>): Promise<void> {
  if (cycle.leaseReleased) return;
  try {
    await compacting();
  } catch (error) {
    if (leavesRunOpen(error)) throw error;
    const safeError = hideTagIn(error, cycle.agent.tag);
    services.logger.error(`The consciousness of agent ${cycle.agent.id} could not be compacted.`, safeError);
  }
}

/** Errors that leave the run open: it continues from what is stored. */
const LEAVES_RUN_OPEN = [
  LeaseLost,
  StoreUnavailable,
  StagedWriteRefused,
  StaleTranscript,
  CycleInterrupted,
  RunCancelled,
  // It is unknown whether the last write is stored. Whoever takes the run over reads it there.
  JournalStalled,
];

function leavesRunOpen(error: unknown): boolean {
  return LEAVES_RUN_OPEN.some((kind) => error instanceof kind);
}

interface PreparedTurn {
  readonly turn: TurnOptions;
  readonly model: LanguageModelV4;
  readonly session: Session;
  readonly context: CycleContext;
}

async function prepareTurn(
  services: Services,
  registry: WorkerRegistry,
  cycle: Cycle,
  abort: CycleAbort,
  cleanup: CycleCleanup,
): Promise<PreparedTurn> {
  const { config, tag, limits } = cycle.agent;
  const stagedWrites = new StagedWrites();
  const agentTools = cycleTools(registry, config, services.limits);
  const delayedFlush = new DelayedFlush(() => journal.transaction(async () => {}), services);
  const live = new LiveCalls(services, cycle, {
    isVisible: (name) => agentTools.named(name)?.isVisible === true,
    onQueued: () => delayedFlush.schedule(),
  });
  const outputs = createOutputLimit(services.limits);
  const secrets = registry.outgoing?.secrets.known ?? new KnownSecrets();
  const frames = framesOf(cycle);
  const showSituation = (current: Situation): string => {
    const text = renderSituation(current, { tag });
    frames.add(text);
    return text;
  };
  let situation = showSituation(cycle.situation);
  const read = storeReader(services, abort);
  const journal = new CycleJournal({
    services,
    cycle,
    live,
    stagedWrites,
    outputs,
    toolNamed: agentTools.named,
    isCancelled: abort.isCancelled,
    signal: abort.signal,
    async onStaged() {
      situation = showSituation(await read((db) => loadSituation(db, cycle.agent.id)));
    },
  });
  cleanup.stop = async () => {
    delayedFlush.stop();
    await journal.close();
  };
  await recoverApprovedCalls(services, cycle, live);
  if (cycle.isTakenOver) await recoverLiveCalls(services, cycle, { live, journal });
  const session = restoreSession(cycle);
  const logger = withoutTag(services.logger, tag);
  const instructions = renderInstructions({ instructions: config.instructions, tag });
  const model = await registry.model(config.model);
  const turn: TurnOptions = {
    model: guardModel(model, { tag, instructions, isFrame: (text) => frames.has(text) }),
    instructions,
    transcript: cycle.transcript,
    answers: cycle.answers,
    tools: agentTools.tools,
    session,
    ...turnRules(cycle),
    onPending: 'continue',
    observe: () => situation,
    onEvent(event) {
      live.onEvent(withoutSecrets(event, secrets));
      if (registry.metrics !== undefined) countEvent(registry.metrics, event, { model: model.modelId });
    },
    maxSteps: limits.maxSteps,
    deadline: Date.now() + limits.cycleTimeoutMs,
    budget: { tokens: limits.tokensPerCycle },
    signal: abort.signal,
    middleware: [
      outputs.middleware,
      ...traceCycle(model.modelId),
      ...(agentTools.isAnyVisible ? [showCards(services, cycle, { journal, live, named: agentTools.named })] : []),
      ...toMiddleware(config.middleware, {
        logger,
        cache: (settings) =>
          registry.toolCaches.middleware({
            ...settings,
            agentId: cycle.agent.id,
            isWithoutEffects: agentTools.isWithoutEffects,
          }),
      }),
      // Innermost, so that nothing else sees the result before.
      removeSecrets(secrets),
    ],
    journal,
    newId,
    logger,
  };
  const context: CycleContext = {
    services,
    cycle,
    runId: cycle.runId,
    agent: cycle.agent,
    read,
    stage: (ctx, write) => stagedWrites.stage(ctx, write),
  };
  return { turn, model, session, context };
}

/** Implements `BuiltInContext.read`. */
function storeReader({ store, limits }: Services, { signal, interrupt }: CycleAbort): CycleContext['read'] {
  return async (work) => {
    try {
      return await retryWhileUnavailable(() => work(store.db), { forMs: limits.leaseMs, signal });
    } catch (error) {
      if (error instanceof StoreUnavailable) interrupt(error);
      throw error;
    }
  };
}

/**
 * The frames of the transcript: inboxes and summaries, which were written outside of any turn. They are collected when
 * the cycle starts, because a tool that changes the messages it sees must not be able to add one.
 */
function framesOf({ transcript }: Cycle): Set<string> {
  const texts = transcript.entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'user'
      ? entry.message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      : [],
  );
  return new Set(texts);
}

/** Restores the session as the last cycle left it. */
function restoreSession({ state, records }: Cycle): Session {
  const session =
    state === undefined ? createSession() : Session.fromJSON(state.session as SessionJson, { slices: [] });
  replay(
    session,
    records.filter(({ seq }) => state === undefined || seq > state.seq),
  );
  return session;
}

function turnRules({ agent: { config } }: Cycle): Pick<TurnOptions, 'batch' | 'terminating'> {
  // The configuration was read from JSON, so no field is present and undefined.
  const { batch, terminating } = config as unknown as Pick<TurnOptions, 'batch' | 'terminating'>;
  return { ...(batch === undefined ? {} : { batch }), ...(terminating === undefined ? {} : { terminating }) };
}

function toMiddleware(
  configs: readonly MiddlewareConfig[] = [],
  { logger, cache }: { logger: Logger; cache: (settings: CacheSettings) => Middleware },
): Middleware[] {
  return configs.map((config) => {
    if (config === 'log') return log(logger);
    if ('cache' in config) return cache(config.cache);
    const { attempts, backoffMs = 0 } = config.retry;
    return retry({ attempts, backoff: (attempt) => backoffMs * 2 ** (attempt - 1) });
  });
}

/** At most twenty flushes a second, and none while the cycle's own transactions write the queued events. */
const FLUSH_MS = 50;

/** Writes the queued live events while a slow reply is still coming. */
class DelayedFlush {
  readonly #flush: () => Promise<void>;
  readonly #services: Services;
  #timer: NodeJS.Timeout | undefined;

  constructor(flush: () => Promise<void>, services: Services) {
    this.#flush = flush;
    this.#services = services;
  }

  schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush().catch((error: unknown) =>
        this.#services.logger.debug(
          'Live events could not be written yet; they are written with the next transaction.',
          error,
        ),
      );
    }, FLUSH_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
