import { JournalStalled, RestoreFailed } from '../errors.ts';
import type { ChangedFile } from '../files/filesystem.ts';
import { endEvent } from '../results/call-events.ts';
import { type Change, type Changes, joinChanges } from '../results/changes.ts';
import { describeError, errorText } from '../results/describe-error.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import { logEnd, reduceEnd, stageLogs, tellSubscribers } from '../session/call-ends.ts';
import { withChanges } from '../session/restore-changes.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { Staged } from '../transcript/journal.ts';
import type { CallRun } from './call-run.ts';
import { notPutBack, refusedAfterRun } from './cut-off.ts';
import type { Ending } from './execute-tool.ts';
import { errorOutcome } from './refusal.ts';
import { restoredInTime } from './restore-wait.ts';

/**
 * Commits or discards the call's changes, then emits its end exactly once, whatever the end. Asynchronous only if it
 * must be.
 */
export function settleCall(run: CallRun, ending: Ending): Settlement | Promise<Settlement> {
  const succeeded = ending.outcome.status === 'ok' || ending.outcome.status === 'pending';
  const deciding = succeeded ? commit(run, ending) : discard(run, ending, ending.outcome);
  return deciding instanceof Promise
    ? deciding.then((settlement) => tellEnd(run, ending, settlement))
    : tellEnd(run, ending, deciding);
}

function tellEnd(run: CallRun, ending: Ending, settlement: Settlement): Settlement {
  run.emit?.(endEvent(settlement));
  if (settlement.outcome.status !== 'pending') tellSubscribers(run.session, settlement);
  // A failed rollback always reaches the host, even if a middleware caught the error on the way.
  run.session.assertUnpoisoned();
  if (ending.signal !== undefined) throw ending.signal;
  return settlement;
}

function commit(run: CallRun, ending: Ending): Settlement | Promise<Settlement> {
  // Only the calls of a turn are journaled. What a nested call wrote is part of the call around it.
  const reading = run.onSettle === undefined ? undefined : ending.draft?.changedFiles();
  if (reading === undefined) return commitWith(run, ending, undefined);
  return reading.then(
    (files) => commitWith(run, ending, files),
    (error: unknown) => uncommitted(run, ending, error),
  );
}

function commitWith(
  run: CallRun,
  ending: Ending,
  files: readonly ChangedFile[] | undefined,
): Settlement | Promise<Settlement> {
  const settlement = toSettlement(run, ending, ending.outcome);
  // The end of a call is part of what it commits; a call that never had a draft reports its end to the session.
  const layer = ending.draft ?? run.session;
  const before = layer.state.root;
  let reduced = before;
  let staged: Staged;
  try {
    if (!isGivenChanges(layer, ending) && ending.outcome.status === 'ok') reduceEnd(layer, settlement);
    reduced = layer.state.root;
    staged = committed(run, ending, files);
  } catch (error) {
    layer.state.root = before;
    return uncommitted(run, ending, error);
  }
  const writing = write(run, settlement, staged);
  if (writing === undefined) return commitDraft(run, ending, settlement);
  return writing.then(
    () => commitDraft(run, ending, settlement),
    (error: unknown) => {
      if (error instanceof JournalStalled) return inDoubt(run, ending, error);
      // A log keeps what a discarded call wrote, and must not keep an end that has not happened.
      if (layer.state.root === reduced) layer.state.root = before;
      return unwritten(ending, error);
    },
  );
}

/**
 * Changes the session as an earlier call did, whose end this one was given. The session may be another one by now: changes that do not
 * fit it are left out, and the end of the call counts as that of any other.
 */
function isGivenChanges(layer: SessionLayer, { draft, slices }: Ending): boolean {
  if (draft === undefined || slices === undefined) return false;
  // A call that cannot write changed the session only by its end, which is reduced again.
  if (layer.isReadOnly) return false;
  try {
    layer.state.root = withChanges(layer.state.root, slices);
    return true;
  } catch {
    return false;
  }
}

function commitDraft(run: CallRun, ending: Ending, settlement: Settlement): Settlement | Promise<Settlement> {
  try {
    const committing = ending.draft?.commit();
    if (committing === undefined) return settlement;
    return restored(run, committing).then(
      () => settlement,
      (error: unknown) =>
        error instanceof RestoreFailed ? poisonAndThrow(run, error) : uncommitted(run, ending, error),
    );
  } catch (error) {
    return uncommitted(run, ending, error);
  }
}

/** A journal that throws synchronously has refused like one that rejects. */
function write(run: CallRun, settlement: Settlement, staged: Staged): void | Promise<void> {
  try {
    return run.onSettle?.(settlement, staged);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The journal refused the call's end: it has not happened, and the run ends with the journal's error. */
async function unwritten(ending: Ending, error: unknown): Promise<never> {
  await ending.draft?.discard();
  throw error;
}

/**
 * It is not known whether the journal has stored the call's end. The call's changes are left as they are, as a crash
 * would leave them: undoing them could contradict the stored outcome. The session may know less than the journal, and
 * cannot be used any more.
 */
function inDoubt(run: CallRun, ending: Ending, error: JournalStalled): never {
  ending.draft?.close();
  run.session.poison(error);
  throw error;
}

/** Files or resources were not restored in time, so the session's state is not known. */
function poisonAndThrow(run: CallRun, error: RestoreFailed): never {
  run.session.poison(error);
  throw error;
}

function restored({ clock, hostDeadline: deadline }: CallRun, work: Promise<void>): Promise<void> {
  return deadline === undefined ? work : restoredInTime({ clock, deadline }, work);
}

/** A reducer refused the call's end, or a parent call ended meanwhile: the call has not happened. */
function uncommitted(run: CallRun, ending: Ending, error: unknown): Settlement | Promise<Settlement> {
  const text = `"${run.toolName}" could not be committed: ${errorText(error)}`;
  const refusal = errorOutcome('execution', describeError(error).message, text);
  return discard(run, ending, refusedAfterRun(run, refusal));
}

function discard(run: CallRun, ending: Ending, outcome: Outcome): Settlement | Promise<Settlement> {
  const log = (told: Outcome): Settlement | Promise<Settlement> => {
    const settlement = toSettlement(run, ending, told);
    logEnd(run.session, settlement);
    const writing = write(run, settlement, discarded(run, ending));
    return writing === undefined ? settlement : writing.then(() => settlement);
  };
  const discarding = ending.draft?.discard({ hurry: ending.leftBehind ?? false });
  // If this fails, the session is poisoned and says so, after the call has been reported.
  if (discarding === undefined) return log(outcome);
  return restored(run, discarding).then(
    () => log(run.session.shared.poison !== undefined ? notPutBack(outcome) : outcome),
    (error: unknown) => {
      if (error instanceof RestoreFailed) run.session.poison(error);
      return log(notPutBack(outcome));
    },
  );
}

function committed({ session }: CallRun, { draft, dropped }: Ending, files: Staged['files'] = []): Staged {
  const events = draft?.state.events ?? [];
  const lost = draft?.lost ?? nothing;
  const changes = {
    committed: draft?.changes ?? nothing,
    discarded: dropped === undefined ? lost : [...takenBack(dropped), ...lost],
  };
  const all = staged({ events, slices: session.recording?.stage(session.state.root, draft), changes });
  return files.length === 0 ? all : { ...all, files };
}

function discarded({ session }: CallRun, { draft, dropped }: Ending): Staged {
  const all = takenBack(draft === undefined ? dropped : [...(dropped ?? []), draft]);
  return staged({ events: [], slices: stageLogs(session), changes: { committed: nothing, discarded: all } });
}

interface StagedParts extends Pick<Staged, 'events'> {
  readonly slices: Staged['slices'] | undefined;
  readonly changes: Changes;
}

function staged({ events, slices, changes: { committed, discarded } }: StagedParts): Staged {
  const changed: Omit<Staged, 'changes'> = slices === undefined ? { events } : { events, slices };
  if (committed.length === 0 && discarded.length === 0) return changed;
  return { ...changed, changes: { committed, discarded: joinChanges(discarded) } };
}

const nothing: readonly Change[] = [];

function takenBack(drafts: Ending['dropped']): readonly Change[] {
  return drafts === undefined ? nothing : drafts.flatMap(({ changes, lost }) => [...changes, ...lost]);
}

function toSettlement(run: CallRun, { input, terminal }: Ending, outcome: Outcome): Settlement {
  const { callId, toolName, startedAt } = run;
  const settlement = { callId, toolName, input, outcome, startedAt, endedAt: run.clock.now() };
  return terminal ? { ...settlement, terminal } : settlement;
}
