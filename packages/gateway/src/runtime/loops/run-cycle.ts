import { runTurn, Transcript } from '@lastcall/core';
import { loadConsciousness } from '../../domain/transcript/load-consciousness.ts';
import { restoreSession } from '../../domain/transcript/restore-session.ts';
import type { Services } from '../../ports/services.ts';
import { CycleActivity } from '../../telemetry/cycle-activity.ts';
import { hideTagIn } from '../../telemetry/hide-tag.ts';
import { compactConsciousness } from '../journal/compact-consciousness.ts';
import { type FailedTurn, failRun } from '../journal/fail-run.ts';
import type { Cycle } from '../run/cycle.ts';
import type { EndedCycle } from '../run/cycle-state.ts';
import { runInCycle } from '../toolset/cycle-context.ts';
import type { WorkerRegistry } from '../toolset/registry.ts';
import type { CycleAbort } from './cycle-abort.ts';
import { leavesRunOpen } from './leaves-run-open.ts';
import { type OpenCycle, openCycle } from './open-cycle.ts';
import { type PreparedTurn, prepareTurn } from './prepare-turn.ts';

/**
 * Runs one cycle: a turn of core on the agent's history, with a journal in the store. If it fails, the run ends as
 * failed and its events are tried again. It rejects only if the run stays open: the lease is lost, the store is
 * unavailable, the gateway stops, a staged write was refused, or a cancel was accepted before a call's write.
 */
export async function runCycle(
  services: Services,
  registry: WorkerRegistry,
  cycle: Cycle,
  abort: CycleAbort,
): Promise<EndedCycle> {
  const startedAt = performance.now();
  const activity = new CycleActivity(services.logger, cycle);
  const count = ({ as: status }: EndedCycle): void => {
    registry.metrics?.cycle({ status, seconds: (performance.now() - startedAt) / 1_000 });
    activity.end(status);
  };
  let open: OpenCycle | undefined;
  let prepared: PreparedTurn | undefined;
  try {
    open = openCycle({ services, registry, cycle, abort });
    prepared = await prepareTurn(open, activity);
    const ended = await runPrepared(open, prepared);
    count(ended);
    return await compactAfterRun(open, prepared, ended);
  } catch (error) {
    if (leavesRunOpen(error)) throw error;
    // A provider's error may quote the prompt, including the frame tag.
    const safeError = hideTagIn(error, cycle.agent.tag);
    services.logger.error(`Cycle ${cycle.number} of agent ${cycle.agent.id} failed.`, safeError);
    await open?.journal.close();
    const as = await failRun(services, cycle, { error, redact: registry.redact, request: unanswered(open, prepared) });
    const ended: EndedCycle = { status: 'ended', as, thread: 'held', waiting: 'nothing', transcript: 'unknown' };
    count(ended);
    // The cycle may have failed because the transcript is too large. Without compaction all later cycles would fail
    // too.
    if (open !== undefined && prepared !== undefined) await compactAfterFailure(open, prepared);
    return ended;
  } finally {
    await open?.journal.close();
    // Resources that tools opened for the cycle are closed at its end, also after an error.
    await prepared?.session.dispose();
  }
}

/** The last request to the model, if the model did not answer it. It is not stored for a run that is not saved. */
function unanswered(open: OpenCycle | undefined, prepared: PreparedTurn | undefined): FailedTurn['request'] {
  const noted = open?.cycle.settings?.save === false ? undefined : open?.requests.unanswered();
  if (noted === undefined || prepared === undefined) return undefined;
  const { modelId: model, provider } = prepared.model;
  const { step, texts, request } = noted;
  return { texts, request: { ...request, step, model, provider } };
}

async function runPrepared({ context, journal }: OpenCycle, { turn }: PreparedTurn): Promise<EndedCycle> {
  await runInCycle(context, () => runTurn(turn));
  const { state } = journal;
  if (state.status === 'running') throw new Error('The turn ended, but its end was not written.');
  return state;
}

async function compactAfterRun(open: OpenCycle, prepared: PreparedTurn, ended: EndedCycle): Promise<EndedCycle> {
  const { services, cycle, abort } = open;
  const { transcript: rows } = ended;
  if (ended.thread === 'released' || rows === 'unknown') return ended;
  const isCompacted = await tryCompacting(open, () =>
    compactConsciousness(services, cycle, {
      transcript: cycle.transcript,
      nextSeq: (rows.at(-1)?.seq ?? 0) + 1,
      ...prepared,
      signal: abort.signal,
    }),
  );
  return isCompacted ? { ...ended, transcript: 'unknown' } : ended;
}

/** Compacts the stored transcript, because the failed turn may not know about the last writes. */
async function compactAfterFailure(open: OpenCycle, { model }: PreparedTurn): Promise<void> {
  const { services, cycle, abort } = open;
  await tryCompacting(open, async () => {
    const { threadId } = cycle.lease;
    const { entries, records, nextSeq } = await services.store.transaction((tx) => loadConsciousness(tx.db, threadId));
    const session = restoreSession({ state: cycle.state, records });
    const transcript = new Transcript(entries);
    return await compactConsciousness(services, cycle, { transcript, nextSeq, session, model, signal: abort.signal });
  });
}

/**
 * The run has already ended, so an error here does not fail it. The next cycle tries again. Returns true if something
 * may have been written.
 */
async function tryCompacting({ services, cycle }: OpenCycle, compacting: () => Promise<boolean>): Promise<boolean> {
  try {
    return await compacting();
  } catch (error) {
    if (leavesRunOpen(error)) throw error;
    const safeError = hideTagIn(error, cycle.agent.tag);
    services.logger.error(`The consciousness of agent ${cycle.agent.id} could not be compacted.`, safeError);
    return true;
  }
}
