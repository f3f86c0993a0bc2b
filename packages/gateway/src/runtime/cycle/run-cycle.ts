import type { LanguageModelV4 } from '@ai-sdk/provider';
import {
  cache,
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
import { countEvent, traceCycle } from '../../telemetry/observe-cycle.ts';
import { withoutTag } from '../../telemetry/without-tag.ts';
import { LeaseLost } from '../lease.ts';
import { compactConsciousness } from './compact-consciousness.ts';
import type { Cycle } from './cycle.ts';
import { type CycleContext, type RunningCycle, runInCycle } from './cycle-context.ts';
import { CycleInterrupted } from './cycle-interrupted.ts';
import { CycleJournal } from './cycle-journal.ts';
import { cycleTools } from './cycle-tools.ts';
import { failRun } from './fail-run.ts';
import { guardModel } from './guard-model.ts';
import { LiveCalls } from './live-calls.ts';
import { loadSituation } from './load-situation.ts';
import { createOutputLimit } from './output-limit.ts';
import { recoverApprovedCalls, recoverLiveCalls } from './recover-live-calls.ts';
import type { Registry } from './registry.ts';
import { showCards } from './show-cards.ts';
import { StagedWriteRefused } from './staged-write-refused.ts';
import { Staging } from './staging.ts';

/** Ends a cycle early. */
export interface CycleAbort {
  readonly signal: AbortSignal;
  /** Somebody asked for the run's end; otherwise this gateway cannot go on, and the run stays to be taken over. */
  isCancelled(): boolean;
  /** Aborts the cycle and leaves the run open. `think` then rejects with the reason. */
  interrupt(reason: Error): void;
}

/**
 * One cycle: a turn of core upon the agent's consciousness, with a journal on the store. What goes wrong in it ends the run as
 * failed, and its events are tried again. Rejects only where the run stays open: the lease is lost, the store is away, the gateway
 * stops, the world changed under a call, or a cancel was accepted before a call's write could land.
 */
export async function runCycle(services: Services, registry: Registry, cycle: Cycle, abort: CycleAbort): Promise<void> {
  const ending: Ending = { stop: async () => {} };
  let prepared: Prepared | undefined;
  const startedAt = performance.now();
  const count = (): void => {
    const { endedAs: status } = cycle;
    if (status !== undefined) registry.metrics?.cycle({ status, seconds: (performance.now() - startedAt) / 1_000 });
  };
  try {
    prepared = await prepare(services, registry, cycle, abort, ending);
    const { turn, context } = prepared;
    await runInCycle(context, () => runTurn(turn));
    count();
    await compactAfterRun(services, cycle, prepared, abort);
  } catch (error) {
    if (staysOpen(error)) throw error;
    // A provider may say what it was asked.
    const told = hideTagIn(error, cycle.agent.tag);
    services.logger.error(`Cycle ${cycle.number} of agent ${cycle.agent.id} failed.`, told);
    await ending.stop();
    await failRun(services, cycle, error, registry.redact);
    count();
    // What it failed of may be how much it carries: then all later ones would fail of it too.
    if (prepared !== undefined) await compactAfterFailure(services, cycle, prepared, abort);
  } finally {
    await ending.stop();
  }
}

/** Ends what a cycle does beside its turn: nothing of it is written after that. */
interface Ending {
  stop: () => Promise<void>;
}

/** From what the store has, whatever the turn knew when it failed. */
async function compactAfterFailure(
  services: Services,
  cycle: Cycle,
  { model }: Prepared,
  abort: CycleAbort,
): Promise<void> {
  await tryCompacting(services, cycle, async () => {
    const consciousness = await services.store.transaction((tx) => loadConsciousness(tx.db, cycle.lease.threadId));
    const { entries, records, nextSeq } = consciousness;
    const left: Cycle = { ...cycle, transcript: new Transcript(entries), records, nextSeq };
    await compactConsciousness(services, left, { model, session: restoreSession(left), signal: abort.signal });
  });
}

async function compactAfterRun(
  services: Services,
  cycle: Cycle,
  { model, session }: Pick<Prepared, 'model' | 'session'>,
  abort: CycleAbort,
): Promise<void> {
  await tryCompacting(services, cycle, () =>
    compactConsciousness(services, cycle, { model, session, signal: abort.signal }),
  );
}

/** The run is over: what goes wrong from here on is no failure of it, and the next cycle tries again. */
async function tryCompacting(services: Services, cycle: Cycle, compacting: () => Promise<void>): Promise<void> {
  if (cycle.leaseReleased) return;
  try {
    await compacting();
  } catch (error) {
    if (staysOpen(error)) throw error;
    const told = hideTagIn(error, cycle.agent.tag);
    services.logger.error(`The consciousness of agent ${cycle.agent.id} could not be compacted.`, told);
  }
}

/** What says nothing of the cycle, which goes on from where the store has it. */
const LEFT_OPEN = [
  LeaseLost,
  StoreUnavailable,
  StagedWriteRefused,
  StaleTranscript,
  CycleInterrupted,
  RunCancelled,
  // Whether the last write is in the store is not known: whoever takes the run over reads it there.
  JournalStalled,
];

function staysOpen(error: unknown): boolean {
  return LEFT_OPEN.some((kind) => error instanceof kind);
}

interface Prepared {
  readonly turn: TurnOptions;
  readonly model: LanguageModelV4;
  readonly session: Session;
  readonly context: RunningCycle;
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
  const outputs = createOutputLimit(services.limits);
  const frames = framesOf(cycle);
  const showSituation = (given: Situation): string => {
    const text = renderSituation(given, { tag });
    frames.add(text);
    return text;
  };
  let situation = showSituation(cycle.situation);
  const read = storeReader(services, abort);
  const journal = new CycleJournal({
    services,
    cycle,
    live,
    staging,
    outputs,
    toolNamed: given.named,
    isCancelled: abort.isCancelled,
    signal: abort.signal,
    async onStaged() {
      situation = showSituation(await read((db) => loadSituation(db, cycle.agent.id)));
    },
  });
  ending.stop = async () => {
    flusher.stop();
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
      outputs.middleware,
      ...traceCycle(model.modelId),
      ...(given.isAnyVisible ? [showCards(services, cycle, { journal, live, named: given.named })] : []),
      ...toMiddleware(config.middleware, logger),
    ],
    journal,
    newId,
    logger,
  };
  const context: RunningCycle = {
    services,
    cycle,
    runId: cycle.runId,
    agent: cycle.agent,
    read,
    stage: (ctx, write) => staging.stage(ctx, write),
  };
  return { turn, model, session, context };
}

/** See `CycleContext.read`. */
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
 * The texts that were put into the transcript from outside of any turn: inboxes and summaries, all of them frames. As they are when
 * the cycle begins, because a tool that changes the messages it is shown writes no inbox.
 */
function framesOf({ transcript }: Cycle): Set<string> {
  const texts = transcript.entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.role === 'user'
      ? entry.message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      : [],
  );
  return new Set(texts);
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

function toMiddleware(configs: readonly MiddlewareConfig[] = [], logger: Logger): Middleware[] {
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
