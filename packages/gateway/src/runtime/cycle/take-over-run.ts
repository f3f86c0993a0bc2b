import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { withdrawQuestions } from '../../domain/pending/withdraw-questions.ts';
import type { Takeover } from '../../domain/runs/takeover.ts';
import { emit, runChannel } from '../../domain/streams/emit.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson, toJson } from '../../ports/store/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { RunRow } from '../../ports/store/tables.ts';
import type { Cycle } from './cycle.ts';
import { closeFailedRun } from './fail-run.ts';
import { readDecisions } from './read-decisions.ts';
import type { EventRow } from './read-thread.ts';
import { type CycleInputs, toCycle } from './to-cycle.ts';

/** A run that crashed this many workers in a row, without any progress, would crash the next one too. */
const MAX_TAKEOVERS = 20;

/** Continues a run that another worker left open. Returns undefined if it ends the run. */
export async function takeOverRun(
  services: Services,
  { open, ...inputs }: CycleInputs & { open: RunRow },
): Promise<Cycle | undefined> {
  const { held, past, row } = inputs;
  const { tx, lease } = held;
  const { nextSeq } = past;
  const events = await eventsOfRun(tx, open.id);
  const attempts = nextSeq > open.taken_seq ? 1 : open.attempts + 1;
  const takeover: Takeover = {
    at: tx.now(),
    afterSeq: nextSeq - 1,
    ...(open.owner === null ? {} : { from: open.owner }),
    ...(row.lease_owner === null ? {} : { to: row.lease_owner }),
    silentMs: tx.now() - (await lastSign(tx, open)),
  };
  await tx.db
    .updateTable('runs')
    .set({
      epoch: lease.epoch,
      attempts,
      taken_seq: nextSeq,
      owner: row.lease_owner,
      takeovers: toJson([...knownTakeovers(open), takeover].slice(-MAX_TAKEOVERS)),
    })
    .where('id', '=', open.id)
    .execute();
  // The calls that asked are no longer open.
  await withdrawQuestions(services, tx, { runId: open.id, agentId: inputs.agent.id });
  const { at: _at, ...told } = takeover;
  emit(services, tx, { channel: runChannel(open.id), type: 'run.taken', payload: { runId: open.id, ...told } });
  const answers = await readDecisions(
    tx,
    events.map(({ payload }) => ({ event: fromJson<InboxEvent>(payload) })),
  );
  const cycle = toCycle(inputs, { run: open, entries: [], written: [], answers, isTakenOver: true });
  if (attempts <= MAX_TAKEOVERS) return cycle;
  const message = `This run was taken over ${MAX_TAKEOVERS} times without making progress.`;
  const text = 'The gateways that worked for the agent stopped again and again before it got any further.';
  await closeFailedRun(services, held, cycle, { message, text, retry: false });
  return undefined;
}

function knownTakeovers({ takeovers }: RunRow): readonly Takeover[] {
  return takeovers === null ? [] : fromJson<Takeover[]>(takeovers);
}

/** When the worker before this one last wrote something. */
async function lastSign(tx: Tx, { id, created_at }: RunRow): Promise<number> {
  const last = await tx.db
    .selectFrom('transcript_entries')
    .select((eb) => eb.fn.max('created_at').as('at'))
    .where('run_id', '=', id)
    .executeTakeFirst();
  return last?.at ?? created_at;
}

async function eventsOfRun(tx: Tx, runId: string): Promise<EventRow[]> {
  return await tx.db.selectFrom('inbox_events').selectAll().where('run_id', '=', runId).execute();
}
