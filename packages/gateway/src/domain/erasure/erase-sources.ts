import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { InboxEventRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import { callEndEvent } from '../calls/settle-waiting.ts';
import { chunks } from '../chunks.ts';
import type { InboxEvent } from '../inbox/inbox-event.ts';
import { tellUnstarted } from '../runs/queued-run.ts';
import { withoutAnswer } from './end-erased-calls.ts';
import { eraseEventPayload } from './erase-event.ts';
import { type ErasureJob, inPiece } from './erasure-job.ts';
import { ERASED, ERASED_JSON } from './mark.ts';
import { idRanges, type SourceMessage, sourceMessages, wholeThreads } from './source-texts.ts';

/** Replaces the texts themselves: messages, the events that they became, and what describes the person, space or agent. */
export async function eraseSources(job: ErasureJob): Promise<void> {
  const { store, erasure } = job;
  for await (const { threadIds, messages } of sourceMessages(store.db, erasure))
    for (const few of chunks(messages, job.store.rowsAtOnce)) {
      const eventIds = few.map(({ id }) => `message:${id}`);
      const [first = [], ...others] = chunks(threadIds, 5);
      const theirs =
        (threads: readonly string[]): EventCondition =>
        (eb) =>
          eb.and([eb('thread_id', 'in', threads), eb('event_id', 'in', eventIds)]);
      await inPiece(job, async (tx) => {
        const replaced = await eraseMessages(tx, few);
        return replaced + (first.length === 0 ? 0 : await eraseEvents(tx, theirs(first)));
      });
      for (const threads of others) await inPiece(job, (tx) => eraseEvents(tx, theirs(threads)));
    }
  for (const threadId of await wholeThreads(store.db, erasure))
    await inPiece(job, async (tx) => {
      const context = tx.db.updateTable('contexts').set({ metadata: '{}' }).where('id', '=', threadId);
      await context.where('metadata', '!=', '{}').execute();
      return await eraseEvents(tx, (eb) => eb('thread_id', '=', threadId));
    });
  await inPiece(job, (tx) => SUBJECTS[erasure.kind](tx, erasure.subject_id));
  if (erasure.kind !== 'person') return;
  await eraseAnswers(job);
  await eraseAddresses(job);
}

/** The events that the answers of the person became. */
async function eraseAnswers(job: ErasureJob): Promise<void> {
  const answered = await job.store.db
    .selectFrom('calls')
    .select(['id', 'thread_id', 'wait_kind', 'rounds'])
    .where('wait_status', 'is not', null)
    .where('answered_by', '=', job.erasure.subject_id)
    .execute();
  for (const few of chunks(answered, job.store.rowsAtOnce)) {
    const threads = [...new Set(few.map(({ thread_id }) => thread_id))];
    const eventIds = few.map(callEndEvent);
    await inPiece(job, async (tx) => {
      const events = tx.db
        .selectFrom('inbox_events')
        .select(['id', 'status', 'payload'])
        .where('thread_id', 'in', threads)
        .where('event_id', 'in', eventIds)
        .orderBy('id')
        // A run that takes an event has the answer, or finds what is left of it.
        .forUpdate();
      return await eraseAnswerEvents(tx, await events.execute());
    });
  }
}

type AnswerEvent = Pick<Selectable<InboxEventRow>, 'id' | 'status' | 'payload'>;

/** Ends calls whose answers no run has taken, and the agents read why. Otherwise these calls would wait for ever. */
async function eraseAnswerEvents(tx: Tx, events: readonly AnswerEvent[]): Promise<number> {
  let replaced = 0;
  for (const { id, status, payload } of events) {
    const event = fromJson<InboxEvent>(eraseEventPayload(payload));
    const isUnread = status === 'pending' || status === 'withheld';
    const erased = toJson(isUnread && event.type === 'tool_result' ? withoutAnswer(event) : event);
    if (erased === payload) continue;
    tx.send(setPayload, { id, payload: erased });
    replaced += 1;
  }
  return replaced;
}

async function eraseMessages(tx: Tx, messages: readonly SourceMessage[]): Promise<number> {
  const written = messages.filter(({ kind, content }) => kind === 'text' && content !== ERASED_JSON);
  if (written.length > 0)
    await tx.db
      .updateTable('messages')
      .set({ content: ERASED_JSON, metadata: '{}', attachments: null, client_message_id: null })
      .where(
        'id',
        'in',
        written.map(({ id }) => id),
      )
      .execute();
  for (const card of messages) if (card.kind === 'tool') await eraseCard(tx, card);
  return written.length;
}

/** A card keeps the name of its tool, and who may answer. */
export async function eraseCard(
  tx: Tx,
  { id, metadata, call }: Pick<SourceMessage, 'id' | 'metadata' | 'call'>,
): Promise<void> {
  const { toolName } = fromJson<{ readonly toolName?: unknown }>(metadata);
  const { display: _display, ...rest } = call === null ? {} : fromJson<{ readonly display?: unknown }>(call);
  await tx.db
    .updateTable('messages')
    .set({
      metadata: toJson({ ...(toolName === undefined ? {} : { toolName }), input: ERASED }),
      call: call === null ? null : toJson(rest),
    })
    .where('id', '=', id)
    .execute();
}

type EventCondition = (eb: ExpressionBuilder<Tables, 'inbox_events'>) => ReturnType<typeof eb.and>;

/** Events that no run has taken become dead: there is nothing left in them to react to. */
async function eraseEvents(tx: Tx, condition: EventCondition): Promise<number> {
  const events = await tx.db
    .selectFrom('inbox_events')
    .select(['id', 'type', 'status', 'payload', 'run_id'])
    .where(condition)
    .execute();
  // Sent together: the answer to one does not matter to the next.
  const replaced = events.map(async ({ id, type, status, payload, run_id }) => {
    const erased = eraseEventPayload(payload);
    const isUnread = status === 'pending' || status === 'withheld';
    if (erased === payload && !isUnread) return 0;
    if (isUnread && type === 'chat' && run_id !== null) tellUnstarted(tx, run_id, 'cancelled');
    if (isUnread) await markDead(tx, id, erased);
    else tx.send(setPayload, { id, payload: erased });
    return 1;
  });
  return (await Promise.all(replaced)).reduce<number>((sum, one) => sum + one, 0);
}

const setPayload = statement(
  (db, { id, payload }: Params<{ id: number; payload: string }>) =>
    db.updateTable('inbox_events').set({ payload }).where('id', '=', id),
  {
    key: 'id',
    toValues: (all) => ({ ids: all.map(({ id }) => id), payloads: all.map(({ payload }) => payload) }),
    build: (_db, { ids, payloads }: Params<{ ids: readonly number[]; payloads: readonly string[] }>) => sql`
      update inbox_events set payload = given.payload
      from unnest(${ids}::bigint[], ${payloads}::text[]) as given (id, payload)
      where inbox_events.id = given.id`,
  },
);

async function markDead(tx: Tx, id: number, payload: string): Promise<void> {
  const dead = { payload, status: 'dead' as const, error: toJson(GONE) };
  await tx.db.updateTable('inbox_events').set(dead).where('id', '=', id).execute();
}

const GONE = { code: 'erased', message: 'The text was erased before it was read.' };

const SUBJECTS: Readonly<Record<ErasureJob['erasure']['kind'], (tx: Tx, id: string) => Promise<number>>> = {
  async person(tx, id) {
    const erased = { display_name: ERASED, external_id: null, metadata: '{}' };
    await tx.db.updateTable('entities').set(erased).where('id', '=', id).execute();
    return 1;
  },
  async space(tx, id) {
    const erased = { name: ERASED, description: '', metadata: '{}' };
    await tx.db.updateTable('spaces').set(erased).where('id', '=', id).execute();
    await tx.db.deleteFrom('agent_failures').where('space_id', '=', id).execute();
    return 1;
  },
  async conversation() {
    return 0;
  },
  async agent(tx, id) {
    const config = toJson({ name: ERASED, instructions: ERASED });
    await tx.db.updateTable('agents').set({ name: ERASED, config, last_error: null }).where('id', '=', id).execute();
    await tx.db.updateTable('agent_versions').set({ config }).where('agent_id', '=', id).execute();
    const named = tx.db.updateTable('entities').set({ display_name: ERASED, external_id: null, metadata: '{}' });
    await named.where('id', '=', id).execute();
    for (const table of ['goals', 'memories', 'plans'] as const)
      await tx.db.deleteFrom(table).where('agent_id', '=', id).execute();
    await tx.db.deleteFrom('agent_failures').where('entity_id', '=', id).execute();
    return 1;
  },
};

/** The audit says who did what and when. Where the person was is not needed for that. */
async function eraseAddresses(job: ErasureJob): Promise<void> {
  for await (const [after, upTo] of idRanges(job.store.db, 'audit'))
    await inPiece(job, async (tx) => {
      const { numUpdatedRows } = await tx.db
        .updateTable('audit')
        .set({ address: null })
        .where('id', '>', after)
        .where('id', '<=', upTo)
        .where('entity_id', '=', job.erasure.subject_id)
        .where('address', 'is not', null)
        .executeTakeFirstOrThrow();
      return Number(numUpdatedRows);
    });
}
