import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { RunRow } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { chunks } from '../chunks.ts';
import { eraseInEvaluations } from '../evaluations/kept-runs.ts';
import { deleteFilesOfThread } from '../files/delete-files.ts';
import { isForkThread } from '../forks/fork.ts';
import { runStream } from '../streams/stream-names.ts';
import { COMPACTION } from '../transcript/transcript-row.ts';
import { endErasedCalls } from './end-erased-calls.ts';
import { eraseAnswerJson, eraseEntryPayload, eraseOutcomeJson } from './erase-entry.ts';
import { eraseNotes } from './erase-notes.ts';
import { deleteEvents } from './erase-streams.ts';
import { type Collected, type ErasureJob, holdThread, inPiece, keepThread, releaseThread } from './erasure-job.ts';
import { ERASED, ERASED_INPUT } from './mark.ts';
import { wholeThreads } from './source-texts.ts';

/**
 * Replaces what models and tools made of the texts: everything in the runs that took them, and all later summaries. Each thread is held
 * meanwhile, so that no run writes the texts again from its memory.
 */
export async function eraseThreads(job: ErasureJob, { threadIds }: Collected): Promise<void> {
  const whole = new Set(await wholeThreads(job.store.db, job.erasure));
  for (const threadId of threadIds) {
    if (!(await holdThread(job, threadId))) continue;
    try {
      const isWhole = whole.has(threadId) || (await isForkThread(job.store.db, threadId));
      await eraseThread({ job, threadId, isWhole, runIds: await runsOf(job, threadId) });
    } finally {
      await releaseThread(job, threadId);
    }
  }
}

interface HeldErasure {
  readonly job: ErasureJob;
  readonly threadId: string;
  readonly isWhole: boolean;
  readonly runIds: readonly string[];
}

async function runsOf({ store, erasure }: ErasureJob, threadId: string): Promise<readonly string[]> {
  const rows = await store.db
    .selectFrom('erasure_runs')
    .select('run_id')
    .where('erasure_id', '=', erasure.id)
    .where('thread_id', '=', threadId)
    .orderBy('run_id')
    .execute();
  return rows.map(({ run_id }) => run_id);
}

async function eraseThread(held: HeldErasure): Promise<void> {
  const { job, threadId, isWhole, runIds } = held;
  const piece = (work: (tx: Tx) => Promise<number>): Promise<void> =>
    inPiece(job, async (tx) => {
      await keepThread(tx, job, threadId);
      return await work(tx);
    });
  for (const few of chunks(runIds, job.store.rowsAtOnce / 4)) await piece((tx) => eraseRuns(tx, few));
  await eraseEntries(held, piece);
  if (isWhole)
    await piece(async (tx) => {
      await deleteFilesOfThread(tx, threadId);
      await tx.db.updateTable('threads').set({ state: null }).where('id', '=', threadId).execute();
      const nothing = { changes: '{}', situation: null };
      await tx.db.updateTable('forks').set(nothing).where('thread_id', '=', threadId).execute();
      return 0;
    });
  else await eraseNotes(job, { threadId, runIds }, piece);
}

type Piece = (work: (tx: Tx) => Promise<number>) => Promise<void>;

/** Once a text was in the transcript, every later summary may contain it. */
async function eraseEntries({ job, threadId, isWhole, runIds }: HeldErasure, piece: Piece): Promise<void> {
  const taken = new Set(runIds);
  let isTold = false;
  for (let after = 0; ; ) {
    const rows = await job.store.db
      .selectFrom('transcript_entries')
      .select(['seq', 'kind', 'run_id', 'payload'])
      .where('thread_id', '=', threadId)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(job.store.rowsAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
    const erased = rows.flatMap(({ seq, kind, run_id, payload }) => {
      isTold ||= isWhole || taken.has(run_id);
      if (!(isWhole || taken.has(run_id) || (isTold && kind === COMPACTION))) return [];
      const left = eraseEntryPayload(kind, payload);
      return left === payload ? [] : [{ seq, payload: left }];
    });
    await piece(async (tx) => {
      for (const { seq, payload } of erased) tx.send(setEntry, { threadId, seq, payload });
      return erased.length;
    });
  }
}

const setEntry = statement(
  (db, { threadId, seq, payload }: Params<{ threadId: string; seq: number; payload: string }>) =>
    db.updateTable('transcript_entries').set({ payload }).where('thread_id', '=', threadId).where('seq', '=', seq),
);

/** The rows of runs besides their transcript. */
async function eraseRuns(tx: Tx, runIds: readonly string[]): Promise<number> {
  const { db } = tx;
  const runs = await db
    .selectFrom('runs')
    .select(['id', 'status', 'stop', 'answer'])
    .where('id', 'in', runIds)
    .execute();
  for (const run of runs) await eraseRun(tx, run);
  const calls = await db.selectFrom('calls').selectAll().where('run_id', 'in', runIds).execute();
  for (const { id, outcome, answer } of calls)
    await db
      .updateTable('calls')
      .set({
        input: toJson(ERASED_INPUT),
        outcome: eraseOutcomeJson(outcome),
        answer: eraseAnswerJson(answer),
        ...{ display: null, late_answers: null, resume_state: null, answer_hash: null },
      })
      .where('id', '=', id)
      .execute();
  await db.updateTable('sub_agent_turns').set({ steps: '[]' }).where('run_id', 'in', runIds).execute();
  await db
    .updateTable('turn_requests')
    .set((eb) => ({ idempotency_key: null, conversation_hash: null, body_hash: eb.ref('run_id') }))
    .where('run_id', 'in', runIds)
    .execute();
  await eraseInEvaluations(tx, runIds);
  await deleteEvents(tx, runIds.map(runStream));
  return runs.length + calls.length;
}

/**
 * A run that is still open would continue with what is left, and might call a tool with an erased input. So it is cancelled, and so are
 * its calls that wait for an approval, or were approved and have not started.
 */
async function eraseRun(tx: Tx, run: Pick<RunRow, 'id' | 'status' | 'stop' | 'answer'>): Promise<void> {
  await endErasedCalls(tx, { runId: run.id });
  const stop = run.stop === null ? null : fromJson<{ readonly error?: unknown }>(run.stop);
  const answer = run.answer === null ? null : fromJson<object>(run.answer);
  await tx.db
    .updateTable('runs')
    .set({
      settings: null,
      ...(stop === null || stop.error === undefined ? {} : { stop: toJson({ ...stop, error: ERASED }) }),
      ...(answer === null ? {} : { answer: toJson({ ...answer, response: ERASED, messages: [], pending: [] }) }),
      ...(run.status === 'running' ? { cancel_requested_at: tx.now() } : {}),
    })
    .where('id', '=', run.id)
    .execute();
}
