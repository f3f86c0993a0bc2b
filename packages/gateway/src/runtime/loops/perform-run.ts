import type { Services } from '../../ports/services.ts';
import { RunActivity } from '../../telemetry/run-activity.ts';
import { type FailedTurn, failRun } from '../journal/fail-run.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { EndedState } from '../run/run-state.ts';
import { withCurrentRun } from '../toolset/current-run.ts';
import type { WorkerRegistry } from '../toolset/registry.ts';
import { leavesRunOpen } from './leaves-run-open.ts';
import { prepareMachine } from './machine-loop.ts';
import { type OpenedRun, openRun } from './open-run.ts';
import type { PreparedRun } from './prepared-run.ts';
import type { RunAbort } from './run-abort.ts';
import { prepareTurn } from './turn-loop.ts';

/**
 * Performs one run, with a journal in the store: a turn of core on the agent's transcript, or steps of its machine. If it fails, the run ends as
 * failed and its events are tried again. It rejects only if the run stays open: the lease is lost, the store is
 * unavailable, the gateway stops, a staged write was refused, or a cancel was accepted before a call's write.
 */
export async function performRun(
  services: Services,
  registry: WorkerRegistry,
  run: ActiveRun,
  abort: RunAbort,
): Promise<EndedState> {
  const startedAt = performance.now();
  const activity = new RunActivity(services.logger, run);
  const count = ({ as: status }: EndedState): void => {
    registry.metrics?.run({ status, seconds: (performance.now() - startedAt) / 1_000 });
    activity.end(status);
  };
  let open: OpenedRun | undefined;
  let prepared: PreparedRun | undefined;
  try {
    open = openRun({ services, registry, run, abort });
    const isMachine = run.agent.setup.definition?.machine !== undefined;
    prepared = await (isMachine ? prepareMachine : prepareTurn)(open, activity);
    const ended = await runPrepared(open, prepared);
    count(ended);
    const after = await compactAfterRun(open, prepared, ended);
    if (after.transcript !== 'unknown') prepared.keep?.(after.transcript);
    return after;
  } catch (error) {
    if (leavesRunOpen(error)) throw error;
    services.logger.error(`Run ${run.number} of agent ${run.agent.id} failed.`, error);
    await open?.journal.close();
    const { redact } = registry;
    const as = await failRun(services, run, { error, redact, request: unanswered(open, prepared) });
    const ended: EndedState = { status: 'ended', as, thread: 'held', waiting: 'nothing', transcript: 'unknown' };
    count(ended);
    // The run may have failed because the transcript is too large. Without compaction all later runs would fail
    // too.
    if (open !== undefined && prepared !== undefined) await compactAfterFailure(open, prepared);
    return ended;
  } finally {
    await open?.journal.close();
    await open?.spend.countRest();
    // Resources that tools opened for the run are closed at its end, also after an error.
    await prepared?.dispose();
  }
}

/** The last request to the model, if the model did not answer it. It is not stored for a run that is not saved. */
function unanswered(open: OpenedRun | undefined, prepared: PreparedRun | undefined): FailedTurn['request'] {
  const noted = open?.run.settings?.save === false ? undefined : open?.requests.unanswered();
  if (noted === undefined || prepared === undefined) return undefined;
  const { step, texts, request, by } = noted;
  const { modelId: model, provider } = by?.model ?? prepared.model;
  return { texts, request: { ...request, step, model, provider, ...(by && { thread: by.thread }) } };
}

async function runPrepared({ context, journal }: OpenedRun, { perform }: PreparedRun): Promise<EndedState> {
  await withCurrentRun(context, perform);
  const { state } = journal;
  if (state.status === 'running') throw new Error('The run was performed, but its end was not written.');
  return state;
}

async function compactAfterRun(open: OpenedRun, prepared: PreparedRun, ended: EndedState): Promise<EndedState> {
  const { transcript: rows } = ended;
  if (ended.thread === 'released' || rows === 'unknown') return ended;
  const nextSeq = (rows.at(-1)?.seq ?? 0) + 1;
  const isCompacted = await tryCompacting(open, () => prepared.compact(nextSeq));
  return isCompacted ? { ...ended, transcript: 'unknown' } : ended;
}

async function compactAfterFailure(open: OpenedRun, prepared: PreparedRun): Promise<void> {
  await tryCompacting(open, () => prepared.compactStored());
}

/**
 * The run has already ended, so an error here does not fail it. The next run tries again. Returns true if something
 * may have been written.
 */
async function tryCompacting({ services, run }: OpenedRun, compacting: () => Promise<boolean>): Promise<boolean> {
  try {
    return await compacting();
  } catch (error) {
    if (leavesRunOpen(error)) throw error;
    services.logger.error(`The transcript of agent ${run.agent.id} could not be compacted.`, error);
    return true;
  }
}
