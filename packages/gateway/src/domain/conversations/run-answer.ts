import type { Entry, Stop, Usage } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Json, RunRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import { ApiError } from '../api-error.ts';
import { toWaitingCall, type WaitingCall } from '../calls/waiting-call.ts';
import { chunks } from '../chunks.ts';
import { isSpoken } from '../transcript/machine-rows.ts';
import { COMPACTION, fromEntryPayload } from '../transcript/transcript-row.ts';
import { type ConversationMessage, responseOf, toConversation } from './to-messages.ts';

/** The result of a run of a conversation. */
export interface RunAnswer {
  readonly runId: string;
  readonly contextId: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  /** Why it ended. `suspended`: calls wait, and their answers continue the turn in another run. */
  readonly stop: Stop | { readonly reason: 'error'; readonly error: string };
  /** The output of the tool that ended the run, or its last text. Empty if it ended otherwise. */
  readonly response: string;
  /** The messages and calls of this run, in order. */
  readonly messages: readonly ConversationMessage[];
  /** The calls of this run that wait for an answer. */
  readonly pending: readonly WaitingCall[];
  /** False if the request said `save: false`. */
  readonly isSaved: boolean;
  readonly usage?: Usage;
}

/** Returns undefined while the run is queued or running. Throws 404 if its conversation was deleted. */
export async function findAnswer(db: Kysely<Tables>, runId: string): Promise<RunAnswer | undefined> {
  const [run] = await findRun(db, { runId });
  if (run === undefined) return await answerOfUnstarted(db, runId);
  if (run.status === 'running') return undefined;
  if (run.answer !== null) return fromJson<RunAnswer>(run.answer);
  const entries = await entriesOf(db, runId);
  // Every waiting call has an entry in the transcript. Nearly all runs end without one.
  const pending = entries.some(({ kind }) => kind === 'pending') ? await waitingOf(db, runId) : [];
  return { ...toAnswer(run, entries), pending, isSaved: true };
}

/** What a run that has ended answered. */
export interface EndedResponse {
  readonly contextId: string;
  readonly response: string;
}

/** The responses of those among these runs that have ended and are stored. */
export async function responsesOfRuns(
  db: Kysely<Tables>,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, EndedResponse>> {
  const found = new Map<string, EndedResponse>();
  for (const few of chunks(runIds, 200)) {
    const runs = await db
      .selectFrom('runs')
      .select(['id', 'thread_id', 'answer'])
      .where('id', 'in', few)
      .where('status', '!=', 'running')
      .execute();
    const rows = await db
      .selectFrom('transcript_entries')
      .select(['run_id', 'payload'])
      .where('run_id', 'in', few)
      .where('kind', '!=', COMPACTION)
      .orderBy('seq')
      .execute();
    const ofRun = Map.groupBy(rows, ({ run_id }) => run_id);
    for (const { id, thread_id: contextId, answer } of runs)
      found.set(id, {
        contextId,
        response: answer === null ? responseOf(entriesIn(ofRun.get(id) ?? [])) : fromJson<RunAnswer>(answer).response,
      });
  }
  return found;
}

/** Returns the error for callers that wait for this run, if its conversation was deleted. */
export async function findDeletion(db: Kysely<Tables>, runId: string): Promise<ApiError | undefined> {
  if ((await findRun(db, { runId })).length > 0 || (await findEvent(db, { runId })).length > 0) return undefined;
  return runDeleted(runId);
}

/** A run is deleted only together with its conversation. */
export function runDeleted(runId: string): ApiError {
  const message = `There is no run "${runId}" any more: its conversation was deleted.`;
  return new ApiError('not_found', message, { details: { run_id: runId } });
}

/** The answer of a run that is ending. Its messages are about to be removed. */
export async function unsavedAnswer(db: Kysely<Tables>, run: EndedRun): Promise<RunAnswer> {
  return { ...toAnswer(run, await entriesOf(db, run.id)), pending: [], isSaved: false };
}

export type EndedRun = Pick<RunRow, 'id' | 'thread_id' | 'status' | 'stop' | 'usage'>;

function toAnswer(run: EndedRun, entries: readonly Entry[]): Omit<RunAnswer, 'pending' | 'isSaved'> {
  const usage = run.usage === null ? null : fromJson<Usage | null>(run.usage);
  return {
    runId: run.id,
    contextId: run.thread_id,
    status: run.status as RunAnswer['status'],
    stop: run.stop === null ? { reason: 'aborted' } : fromJson<RunAnswer['stop']>(run.stop),
    response: responseOf(entries),
    messages: toConversation(entries),
    ...(usage === null ? {} : { usage }),
  };
}

async function entriesOf(db: Kysely<Tables>, runId: string): Promise<readonly Entry[]> {
  return entriesIn(await findEntries(db, { runId }));
}

function entriesIn(rows: readonly { readonly payload: Json }[]): readonly Entry[] {
  return rows.map(({ payload }) => fromEntryPayload(payload).entry).filter(isSpoken);
}

async function waitingOf(db: Kysely<Tables>, runId: string): Promise<readonly WaitingCall[]> {
  return (await findWaiting(db, { runId })).map(toWaitingCall);
}

interface RunParams {
  readonly runId: string;
}

const findRun = statement((db, { runId }: Params<RunParams>) =>
  db.selectFrom('runs').select(COLUMNS.runs).where('id', '=', runId),
);

const findEntries = statement((db, { runId }: Params<RunParams>) =>
  db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', '=', runId)
    .where('kind', '!=', COMPACTION)
    .orderBy('seq'),
);

const findWaiting = statement((db, { runId }: Params<RunParams>) =>
  db
    .selectFrom('calls')
    .select(COLUMNS.calls)
    .where('run_id', '=', runId)
    .where('during_call', 'is', null)
    // A parameter, unlike IS_PENDING: a plan that is kept must find these calls by their run.
    .where('wait_status', '=', 'pending')
    .orderBy('id'),
);

const findEvent = statement((db, { runId }: Params<RunParams>) =>
  db.selectFrom('inbox_events').select(['thread_id', 'status', 'error']).where('run_id', '=', runId),
);

/** A request whose run never began: it was cancelled, or its agent was deleted. */
async function answerOfUnstarted(db: Kysely<Tables>, runId: string): Promise<RunAnswer | undefined> {
  const [event] = await findEvent(db, { runId });
  // The event of a request stays after its run has begun. So a run without both was deleted.
  if (event === undefined) throw runDeleted(runId);
  if (event.status !== 'dead') return undefined;
  const { code, message } = fromJson<{ code?: string; message?: string }>(event.error ?? '{}');
  const isCancelled = code === 'run_cancelled';
  return {
    runId,
    contextId: event.thread_id,
    status: isCancelled ? 'cancelled' : 'failed',
    stop: isCancelled ? { reason: 'aborted' } : { reason: 'error', error: message ?? 'The run never began.' },
    response: '',
    messages: [],
    pending: [],
    isSaved: true,
  };
}
