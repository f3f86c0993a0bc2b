import { ApiError } from '../../domain/api-error.ts';
import { runThatTook } from '../../domain/conversations/asked-calls.ts';
import { findAnswer, findDeletion } from '../../domain/conversations/run-answer.ts';
import { settingsOfRequests, settingsOfRuns } from '../../domain/conversations/settings-of-runs.ts';
import { runsOfTurn } from '../../domain/conversations/turn-runs.ts';
import { sweptRuns } from '../../domain/streams/sweep-streams.ts';
import type { Services } from '../../ports/services.ts';
import type { AcceptedUiRequest } from './accept-ui-request.ts';
import type { ShownTurn } from './ui-stream.ts';

/** The turn that the client of a request will be shown. */
export async function toTurn(services: Services, accepted: AcceptedUiRequest, signal: AbortSignal): Promise<ShownTurn> {
  const { contextId } = accepted;
  const { db } = services.store;
  if (accepted.kind === 'turn') {
    const runIds = await runsOfTurn(db, contextId, accepted.runId);
    return { contextId, runIds, messageId: runIds[0] ?? accepted.runId };
  }
  const { calls: known, messageId } = accepted;
  const taker = await takerOf(services, accepted, signal);
  const runs = await runsOfTurn(db, contextId, taker);
  const asking = new Set(known.map(({ runId }) => runId));
  const askedIn = runs.findIndex((runId) => asking.has(runId));
  return { contextId, messageId, known, runIds: askedIn === -1 ? runs : runs.slice(askedIn + 1) };
}

/** An answer that was given elsewhere has no run until a worker takes it. Throws 404 if the conversation is deleted meanwhile. */
async function takerOf(
  { store, limits }: Services,
  { contextId, calls }: Extract<AcceptedUiRequest, { kind: 'continuation' }>,
  signal: AbortSignal,
): Promise<string> {
  const callIds = calls.map(({ callId }) => callId);
  const until = performance.now() + TAKE_MS;
  while (performance.now() < until) {
    signal.throwIfAborted();
    const runId = await runThatTook(store.db, contextId, callIds);
    if (runId !== undefined) return runId;
    const deletion = calls[0] && (await findDeletion(store.db, calls[0].runId));
    if (deletion !== undefined) throw deletion;
    await new Promise((resolve) => setTimeout(resolve, Math.min(limits.sweepMs, 200)));
  }
  throw new ApiError('not_continued', 'The call is answered, but the agent has not continued yet. Try again.', {
    retryAfter: 2,
  });
}

const TAKE_MS = 30_000;

/** True if one of the runs was started for a JSON response. */
export async function hasUnwatched({ store: { db } }: Services, runIds: readonly string[]): Promise<boolean> {
  const settings = [...(await settingsOfRuns(db, runIds)), ...(await settingsOfRequests(db, runIds))];
  return settings.some((one) => one.isUnwatched === true);
}

/** True if the turn ended so long ago that its events are deleted, and it does not wait for an answer. */
export async function isForgotten(services: Services, runIds: readonly string[]): Promise<boolean> {
  if (!(await isSwept(services, runIds))) return false;
  const last = await findAnswer(services.store.db, runIds.at(-1) ?? '');
  return last === undefined || last.pending.length === 0;
}

/**
 * True if events of these runs are deleted, so that only the stored turn can be shown. The order of the queries matters: a run
 * that had already ended has events unless they were deleted, but one that ends in between may not have had any before.
 */
export async function isSwept({ store: { db } }: Services, runIds: readonly string[]): Promise<boolean> {
  const ended = new Set<string>();
  for (const runId of runIds) if ((await findAnswer(db, runId)) !== undefined) ended.add(runId);
  const swept = await sweptRuns(db, runIds);
  return runIds.some((runId) => swept.get(runId) ?? ended.has(runId));
}
