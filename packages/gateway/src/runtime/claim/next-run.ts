import type { Services } from '../../ports/services.ts';
import { pipeline } from '../../ports/store/pipeline.ts';
import type { Tx } from '../../ports/store/store.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { createRedact, type Redact } from '../../telemetry/redact.ts';
import { loadFork } from '../forks/active-fork.ts';
import { closeFailedRun } from '../journal/fail-run.ts';
import {
  type Claimant,
  claimThread,
  extendLease,
  fenced,
  type HeldThread,
  type Lease,
  LeaseLost,
  reclaimThread,
} from '../lease/lease.ts';
import { release } from '../lease/release-thread.ts';
import type { ActiveRun } from '../run/active-run.ts';
import { toUnreadableFailure } from '../run/run-failure.ts';
import { withoutOverLimit } from '../spend/hold-over-limit.ts';
import { agentFork } from '../threads/fork-thread.ts';
import { THREAD_KINDS } from '../threads/thread-kinds.ts';
import type { Registry } from '../toolset/registry.ts';
import { setupsOf } from '../toolset/run-setups.ts';
import { excuseTakeover } from './excuse-takeover.ts';
import { giveUpThread } from './give-up-thread.ts';
import { readAgent, spendOf } from './read-agent.ts';
import { type Past, readPast } from './read-past.ts';
import { type LoadedThread, loadThread, readThread, type ThreadRows } from './read-thread.ts';
import { settingsOfRun } from './settings-of-run.ts';
import { startRun } from './start-run.ts';
import { continueRun, type OpenRun, takeOverRun } from './take-over-run.ts';
import type { TranscriptCache } from './transcript-cache.ts';

/** A thread that was just claimed, and the run that starts on it. */
export interface ClaimedRun {
  readonly lease: Lease;
  readonly run: ActiveRun;
}

export interface NextRunOptions {
  readonly owner: string;
  readonly isUrgent: boolean;
  /** Goes ahead of threads that are claimed at the same time. */
  readonly isFirst?: boolean;
  /**
   * True if the thread probably has an open run. Then its transcript is not read with the claim, but with the run: several gateways may try
   * to claim a thread whose worker has died, and a transcript may be long.
   */
  readonly isAbandoned?: boolean;
  readonly transcriptCache: TranscriptCache;
  /**
   * Calls `read`, which reads a run that was taken over in a second transaction. That may take longer than the lease, so the caller
   * renews the lease meanwhile. By default nothing does.
   */
  readonly whileTaken?: (taken: TakenRun, read: () => Promise<ActiveRun | undefined>) => Promise<ActiveRun | undefined>;
}

/**
 * Claims a thread and its next run in one transaction. Returns undefined if another worker holds the thread or there
 * is nothing to do; the thread is then not held.
 */
export async function claimNextRun(
  services: Services,
  registry: Registry,
  threadId: string,
  {
    owner,
    isUrgent,
    isFirst = false,
    isAbandoned = false,
    transcriptCache,
    whileTaken = (_taken, read) => read(),
  }: NextRunOptions,
): Promise<ClaimedRun | undefined> {
  const claimant = { owner, leaseMs: services.limits.leaseMs };
  const take = async (tx: Tx): Promise<ClaimedRun | TakenRun | undefined> => {
    const cached = transcriptCache.peek(threadId);
    // A woken thread usually has work, so what a run needs is loaded in the same round trip that reads the work.
    const claimed = await claimThread(tx, threadId, claimant, (thread) =>
      pipeline(
        readThread(thread),
        isAbandoned ? Promise.resolve(undefined) : loadThread(thread, transcriptCache.known(cached)),
      ),
    );
    if (claimed === undefined) return undefined;
    const {
      held,
      found: [found, loaded],
    } = claimed;
    const { lease } = held;
    if (isOpen(found)) {
      tx.afterCommit(() => transcriptCache.forget(threadId));
      // If the confirmation of its last claim was lost, this worker finds its own run here.
      const isLost = found.open.owner !== owner;
      if (!(await takeOverRun(services, held, registry, { ...found, isLost }))) return undefined;
      extendLease(held, claimant.leaseMs);
      return { lease, runId: found.open.id };
    }
    const isCurrent = cached === undefined || cached === transcriptCache.get(lease, { isNewClaim: true });
    let isIdle = true;
    const useLoaded = async (): Promise<LoadedThread> => {
      isIdle = false;
      if (!isCurrent) return await loadThread(held, undefined);
      return loaded ?? (await loadThread(held, transcriptCache.known(cached)));
    };
    const run = await findRun(services, held, registry, { found, loadThread: useLoaded });
    if (run !== undefined) return { lease, run };
    release(tx, lease);
    // If a run was ended here, the transcript has changed.
    tx.afterCommit(() => (isIdle ? transcriptCache.updateEpoch(lease) : transcriptCache.forget(threadId)));
    return undefined;
  };
  const claimed = await forgetOnError(transcriptCache, threadId, () =>
    services.store.transaction(take, { isUrgent, group: { kind: 'claim', keys: [threadId], isFirst } }),
  );
  if (claimed === undefined || 'run' in claimed) return claimed;
  const run = await whileTaken(claimed, () => continueTaken(services, registry, claimed, transcriptCache));
  return run === undefined ? undefined : { lease: claimed.lease, run };
}

/** A thread whose open run was taken over. The contents of the run were not read yet. */
export interface TakenRun {
  readonly lease: Lease;
  readonly runId: string;
}

/**
 * Reads the contents of a run that was taken over. This is a separate transaction after the one that counted the
 * takeover, because reading them may be what stopped the previous worker.
 */
async function continueTaken(
  services: Services,
  registry: Registry,
  { lease, runId }: TakenRun,
  transcriptCache: TranscriptCache,
): Promise<ActiveRun | undefined> {
  try {
    return await nextRun(services, registry, lease, { transcriptCache, isTaken: true });
  } catch (error) {
    // The run did not cause this, so the takeover should not count. If the store is still unavailable, it counts once
    // the lease has run out.
    if (error instanceof StoreUnavailable) await giveUpThread(services, lease).catch(() => {});
    if (!(error instanceof LeaseLost)) throw error;
    await excuseTakeover(services.store, runId);
    return undefined;
  }
}

function isOpen(found: ThreadRows): found is ThreadRows & Pick<OpenRun, 'open' | 'row'> {
  return found.row !== undefined && found.open !== undefined;
}

/** Forgets the cached transcript if the transaction failed, because it is unknown what was written. */
async function forgetOnError<T>(
  transcriptCache: TranscriptCache,
  threadId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    transcriptCache.forget(threadId);
    throw error;
  }
}

/**
 * Finds the next run of a held thread: the run that a dead worker left open, or a new run for the waiting events. If
 * there is neither, releases the thread and returns undefined. A new run, its claimed events and the text that the
 * model will read are written in one transaction: a crash after it leaves a run to take over, a crash before it leaves
 * waiting events. `reclaim` is given if it is unknown whether the thread was released. `isTaken`: the run was taken
 * over with the claim, and the takeover was counted there.
 */
export async function nextRun(
  services: Services,
  registry: Registry,
  lease: Lease,
  {
    transcriptCache,
    reclaim,
    isTaken = false,
  }: { transcriptCache: TranscriptCache; reclaim?: Claimant | undefined; isTaken?: boolean },
): Promise<ActiveRun | undefined> {
  const known = transcriptCache.get(lease, { isNewClaim: false });
  const take = async (tx: Tx, held: HeldThread): Promise<ActiveRun | undefined> => {
    if (reclaim !== undefined) await reclaimThread(tx, lease, reclaim);
    const found = await readThread(held);
    if (!isTaken && isOpen(found) && !(await takeOverRun(services, held, registry, { ...found, isLost: false })))
      return undefined;
    const run = await findRun(services, held, registry, {
      found,
      loadThread: () => loadThread(held, transcriptCache.known(known)),
    });
    // Released in the transaction that found nothing: an event that is written at the same time wakes a worker, which
    // then finds the thread free.
    if (run === undefined) release(tx, lease);
    return run;
  };
  return await forgetOnError(transcriptCache, lease.threadId, () => fenced(services.store, lease, take));
}

interface RunSource {
  readonly found: ThreadRows;
  /** Called only if there is something to do. */
  readonly loadThread: () => Promise<LoadedThread>;
}

async function findRun(
  services: Pick<Services, 'logger' | 'currency'>,
  held: HeldThread,
  registry: Registry,
  { found: { row, open, events: waiting, last }, loadThread }: RunSource,
): Promise<ActiveRun | undefined> {
  if (row === undefined) return undefined;
  const { metrics, redact } = registry;
  const isIdle = row.status !== 'active' || waiting.length === 0;
  if (open === undefined && isIdle) return undefined;
  const fork = await loadFork(held.tx.db, { threadId: held.threadId, isFork: row.is_fork === 1 });
  const kind = fork?.situation !== undefined ? agentFork : THREAD_KINDS[row.kind];
  const setups = setupsOf(registry);
  const configured = setups.ofAgent(fork === undefined ? row : { ...row, config: fork.config });
  const events =
    open === undefined && kind.retriesFailedRuns
      ? await withoutOverLimit(held, {
          agent: { id: row.id, entityId: row.entity_id },
          project: { id: row.project_id, spend: spendOf(row.project_spend) },
          events: waiting,
          perAgent: configured.limits.spend,
          perPerson: registry.personLimits?.spend,
          currency: services.currency,
        })
      : waiting;
  if (open === undefined && events.length === 0) return undefined;
  const taken = open === undefined ? await kind.takeEvents(held, events, configured.limits) : [];
  const request = open === undefined ? await kind.requestOf(held, taken) : { settings: settingsOfRun(open) };
  const setup = await setups.ofRun(held.tx.db, configured, {
    kind,
    settings: request.settings,
    toolsVersion: row.tools_version,
  });
  const agent = { ...readAgent(row, setup), setup };
  const loaded = await loadThread();
  const past = readPast(loaded);
  const inputs = { held, agent, row, loaded, past, kind, request, fork };
  const run =
    open === undefined
      ? await startRun({
          ...inputs,
          metrics,
          events: taken,
          last,
        })
      : await continueRun({ ...inputs, open });
  if (past.flaw === undefined || run === undefined) return run;
  await closeUnreadable(services, held, run, past.flaw, redact);
  return undefined;
}

/**
 * Closes the run in the transaction that took its events: the model cannot be called with a transcript, a session or a machine that
 * cannot be read.
 */
async function closeUnreadable(
  { logger }: Pick<Services, 'logger'>,
  held: HeldThread,
  run: ActiveRun,
  { error, of }: NonNullable<Past['flaw']>,
  redact: Redact = createRedact(),
): Promise<void> {
  // The rows of a machine are its state, not only what was said.
  const isMachine = run.agent.setup.definition?.machine !== undefined;
  const failure = toUnreadableFailure(error, redact, isMachine ? 'machine' : of);
  held.tx.afterCommit(() => logger.error(`Agent ${run.agent.id} cannot work. ${failure.message}`));
  await closeFailedRun(held, run, failure);
}
