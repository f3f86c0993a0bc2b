import { withdrawQuestions } from '../../domain/calls/withdraw-questions.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import type { EventRow } from '../../domain/inbox/waiting-events.ts';
import type { Takeover } from '../../domain/runs/takeover.ts';
import { runStream } from '../../domain/streams/stream-names.ts';
import { PastTranscript } from '../../domain/transcript/past-transcript.ts';
import { countLost } from '../../domain/usage/count-usage.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { RunRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { closeFailedRun } from '../journal/fail-run.ts';
import { lastSeq, progressOf } from '../journal/last-seq.ts';
import type { HeldThread } from '../lease/lease.ts';
import { release } from '../lease/release-thread.ts';
import type { ActiveRun, EndingRun } from '../run/active-run.ts';
import { NO_PROGRESS } from '../run/run-failure.ts';
import { THREAD_KINDS } from '../threads/thread-kinds.ts';
import type { Registry } from '../toolset/registry.ts';
import { setupsOf } from '../toolset/run-setups.ts';
import { readAgent } from './read-agent.ts';
import { readDecisions } from './read-decisions.ts';
import type { ThreadedAgent } from './read-thread.ts';
import { settingsOfRun } from './settings-of-run.ts';
import { type ActiveRunInputs, toActiveRun } from './to-active-run.ts';
import { findWakingSpaces, spaceOfOpenRun } from './waking-space.ts';

/** A run that three workers in a row left without progress would probably stop the next one too. */
const MAX_LOST = 3;
/**
 * How often a worker that stays alive may continue its own run without progress, for example after outages of the
 * store.
 */
const MAX_CONTINUED = 20;

/** An open run, and the agent whose thread was read. */
export interface OpenRun {
  readonly open: RunRow;
  readonly row: ThreadedAgent;
  /** True if the previous worker died or stalled. False if this worker continues its own run. */
  readonly isLost: boolean;
}

/**
 * Takes over an open run. If the previous workers made no progress, it ends the run instead, releases the thread and
 * returns false. It does not parse the contents of the run, because that may be what stopped them.
 */
export async function takeOverRun(
  services: Pick<Services, 'logger'>,
  held: HeldThread,
  registry: Registry,
  run: OpenRun,
): Promise<boolean> {
  if ((await recordTakeover(held, run)) === 'open') return true;
  const { open, row } = run;
  const agent = readAgent(row, setupsOf(registry).ofAgent(row));
  await closeStuckRun(services, held, {
    runId: open.id,
    kind: THREAD_KINDS[row.kind],
    settings: settingsOfRun(open),
    agent,
  });
  release(held.tx, held.lease);
  return false;
}

async function recordTakeover({ tx, lease }: HeldThread, { open, row, isLost }: OpenRun): Promise<'open' | 'stuck'> {
  const progress = await progressOf(tx, lease.threadId);
  const before = progress > open.taken_seq ? 0 : open.attempts;
  // Below zero means that the next takeover is excused. That of the same worker does not count, so it uses the excuse up.
  const attempts = isLost ? before + 1 : Math.max(0, before);
  const takeover = await toTakeover(tx, { open, row });
  const takeovers = [...knownTakeovers(open), takeover].slice(-MAX_CONTINUED);
  await tx.db
    .updateTable('runs')
    .set({ epoch: lease.epoch, attempts, taken_seq: progress, owner: row.lease_owner, takeovers: toJson(takeovers) })
    .where('id', '=', open.id)
    .execute();
  await countLost(tx, open.id);
  // The calls that asked these questions are no longer open.
  await withdrawQuestions(tx, { runId: open.id, agentId: row.id });
  const { at: _at, ...told } = takeover;
  tx.emit({ stream: runStream(open.id), type: 'run.taken', payload: { runId: open.id, ...told } });
  // Counts takeovers since the last progress. A call that each worker starts again adds rows, but that is not progress.
  const here = takeovers.filter(({ afterSeq }) => afterSeq >= progress).length;
  return attempts >= MAX_LOST || here >= MAX_CONTINUED ? 'stuck' : 'open';
}

/** Ends a run that made no progress. Its events are dead until an operator redrives them. */
async function closeStuckRun(
  { logger }: Pick<Services, 'logger'>,
  held: HeldThread,
  run: Omit<EndingRun, 'lease' | 'answers'>,
): Promise<void> {
  const { tx, lease } = held;
  const { runId, agent } = run;
  tx.afterCommit(() => logger.error(`Run ${runId} of agent ${agent.id} failed. ${NO_PROGRESS.message}`));
  const answers = await decisionsOf(tx, runId);
  await closeFailedRun(held, { ...run, lease, answers }, NO_PROGRESS);
}

/** Continues an open run from what is stored. */
export async function continueRun({
  open,
  ...inputs
}: ActiveRunInputs & { readonly open: RunRow }): Promise<ActiveRun> {
  const { tx } = inputs.held;
  const events = await eventsOf(tx, open.id);
  const answers = await readDecisions(tx, events.map(toEvent));
  const began = { entityId: inputs.agent.entityId, createdAt: open.created_at };
  const spaces = inputs.kind.hasSpaces ? await findWakingSpaces(tx, events) : [];
  const waking = await spaceOfOpenRun(tx, began, spaces);
  const earlierEntries = await countEarlier(inputs, open.id);
  const taken = { entries: [], written: [], isTakenOver: true, earlierEntries };
  return toActiveRun(inputs, { run: open, answers, waking, ...taken });
}

/** How many entries the transcript had before the run. What a fork copied of its original was paid there. */
async function countEarlier({ held, loaded, past, fork }: ActiveRunInputs, runId: string): Promise<number> {
  if (past.flaw !== undefined) return 0;
  const first = await held.tx.db
    .selectFrom('transcript_entries')
    .select((eb) => eb.fn.min('seq').as('seq'))
    .where('run_id', '=', runId)
    .where('seq', '>', fork?.baseSeq ?? 0)
    .executeTakeFirst();
  const before = new PastTranscript();
  before.read(loaded.rows.filter(({ seq }) => seq < (first?.seq ?? Number.POSITIVE_INFINITY)));
  return before.entries;
}

async function toTakeover(tx: Tx, { open, row }: Pick<OpenRun, 'open' | 'row'>): Promise<Takeover> {
  return {
    at: tx.now(),
    afterSeq: await lastSeq(tx, open.thread_id),
    ...(open.owner === null ? {} : { from: open.owner }),
    ...(row.lease_owner === null ? {} : { to: row.lease_owner }),
    silentMs: tx.now() - (await lastSign(tx, open)),
  };
}

/** When the previous worker last wrote something. */
async function lastSign(tx: Tx, { id, created_at }: RunRow): Promise<number> {
  const last = await tx.db
    .selectFrom('transcript_entries')
    .select((eb) => eb.fn.max('created_at').as('at'))
    .where('run_id', '=', id)
    .executeTakeFirst();
  return last?.at ?? created_at;
}

function knownTakeovers({ takeovers }: RunRow): readonly Takeover[] {
  return takeovers === null ? [] : fromJson<Takeover[]>(takeovers);
}

async function decisionsOf(tx: Tx, runId: string): Promise<ActiveRun['answers']> {
  return await readDecisions(tx, (await eventsOf(tx, runId)).map(toEvent));
}

async function eventsOf(tx: Tx, runId: string): Promise<EventRow[]> {
  return await tx.db.selectFrom('inbox_events').selectAll().where('run_id', '=', runId).execute();
}

function toEvent({ payload }: EventRow): { readonly event: InboxEvent } {
  return { event: fromJson<InboxEvent>(payload) };
}
