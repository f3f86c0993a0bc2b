import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Attachment } from '../artifacts/attachment.ts';
import { callEndEvent } from '../calls/settle-waiting.ts';
import { chunks } from '../chunks.ts';
import type { InboxEvent } from '../inbox/inbox-event.ts';
import { Copies, mapStrings } from './copies.ts';
import { type Collected, type ErasureJob, inPiece, noteProgress } from './erasure-job.ts';
import { idRanges, sourceMessages, wholeThreads } from './source-texts.ts';

/**
 * Reads the texts that are going to be erased, and stores what is needed to find their copies: hashes, and which runs took them. After
 * this nothing needs the texts, so a crash in a later phase loses nothing.
 */
export async function collectTexts(job: ErasureJob): Promise<void> {
  const { store, erasure } = job;
  const copies = new Copies();
  await dropCollected(job);
  for await (const { threadIds, messages } of sourceMessages(store.db, erasure)) {
    for (const { content, metadata, attachments } of messages) {
      learn(copies, content, metadata);
      learnNames(copies, attachments);
    }
    const eventIds = messages.map(({ id }) => `message:${id}`);
    for (const few of chunks(threadIds, 50)) await noteRuns(job, await runsThatTook(job, few, eventIds));
  }
  for (const threadId of await wholeThreads(store.db, erasure)) await collectThread(job, copies, threadId);
  if (erasure.kind === 'person') await collectPerson(job, copies);
  await collectForks(job);
  const names = await namesOf(job);
  await store.transaction(async (tx) => {
    const parts = [...chunks([...copies.prints], PRINTS_PER_PART)];
    for (const [index, prints] of parts.entries())
      await tx.db
        .insertInto('erasure_prints')
        .values({ erasure_id: erasure.id, part: String(index).padStart(6, '0'), prints: toJson(prints) })
        .execute();
    await tx.db
      .insertInto('erasure_prints')
      .values({ erasure_id: erasure.id, part: NAMES, prints: toJson(names) })
      .execute();
    await noteProgress(tx, job, { phase: 'sources' });
  });
}

const PRINTS_PER_PART = 20_000;
const NAMES = 'names';

/** What was collected, also after a crash. */
export async function readCollected({ store, erasure }: ErasureJob): Promise<Collected> {
  const parts = await store.db
    .selectFrom('erasure_prints')
    .select(['part', 'prints'])
    .where('erasure_id', '=', erasure.id)
    .execute();
  const names = fromJson<string[]>(parts.find(({ part }) => part === NAMES)?.prints ?? '[]');
  const prints = parts.flatMap(({ part, prints }) => (part === NAMES ? [] : fromJson<number[]>(prints)));
  const rows = await store.db
    .selectFrom('erasure_runs')
    .select(['thread_id', 'run_id'])
    .where('erasure_id', '=', erasure.id)
    .execute();
  const authorId = erasure.kind === 'person' ? erasure.subject_id : undefined;
  const whole = await wholeThreads(store.db, erasure);
  return {
    copies: new Copies({ prints, names, authorId }),
    runIds: new Set(rows.map(({ run_id }) => run_id)),
    threadIds: [...new Set([...whole, ...rows.map(({ thread_id }) => thread_id)])].sort(),
  };
}

export async function dropCollected({ store, erasure }: ErasureJob): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.db.deleteFrom('erasure_prints').where('erasure_id', '=', erasure.id).execute();
    await tx.db.deleteFrom('erasure_runs').where('erasure_id', '=', erasure.id).execute();
  });
}

function learn(copies: Copies, ...texts: readonly (string | null)[]): void {
  for (const text of texts)
    if (text !== null)
      mapStrings(fromJson(text), (one) => {
        copies.add(one);
        return one;
      });
}

function learnNames(copies: Copies, attachments: string | null): void {
  if (attachments !== null) for (const { name } of fromJson<readonly Attachment[]>(attachments)) copies.add(name);
}

/** Texts and names of files. The rest of a part is not the person's, e.g. its type. */
function learnMessage(copies: Copies, content: UserContent): void {
  for (const part of content)
    if (part.type === 'text') copies.add(part.text);
    else if (part.filename !== undefined) copies.add(part.filename);
}

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'];

interface TakenBy {
  readonly thread_id: string;
  readonly run_id: string | null;
}

async function runsThatTook(
  { store }: ErasureJob,
  threadIds: readonly string[],
  eventIds: readonly string[],
): Promise<readonly TakenBy[]> {
  if (threadIds.length === 0) return [];
  return await store.db
    .selectFrom('inbox_events')
    .select(['thread_id', 'run_id'])
    .distinct()
    .where('thread_id', 'in', threadIds)
    .where('event_id', 'in', eventIds)
    .where('run_id', 'is not', null)
    .execute();
}

async function noteRuns(job: ErasureJob, taken: readonly TakenBy[]): Promise<void> {
  const { erasure } = job;
  await inPiece(job, async (tx) => {
    const rows = taken.flatMap(({ thread_id, run_id }) =>
      run_id === null ? [] : [{ erasure_id: erasure.id, thread_id, run_id }],
    );
    for (const few of chunks(rows, 500))
      await tx.db
        .insertInto('erasure_runs')
        .values(few)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    return 0;
  });
}

/** A whole conversation or thread: all its runs, and what was sent to it. */
async function collectThread(job: ErasureJob, copies: Copies, threadId: string): Promise<void> {
  const { db } = job.store;
  for (let after = 0; ; ) {
    const runs = await db
      .selectFrom('runs')
      .select(['id as run_id', 'thread_id', 'number'])
      .where('thread_id', '=', threadId)
      .where('number', '>', after)
      .orderBy('number')
      .limit(500)
      .execute();
    await noteRuns(job, runs);
    const last = runs.at(-1);
    if (last === undefined) break;
    after = last.number;
  }
  // Of an agent, the texts of others that it read are not its own.
  if (job.erasure.kind === 'agent') return;
  const events = db.selectFrom('inbox_events').select('payload').where('thread_id', '=', threadId);
  for (const { payload } of await events.execute()) {
    const event = fromJson<InboxEvent>(payload);
    if (event.type === 'chat')
      for (const message of event.messages) if (message.role === 'user') learnMessage(copies, message.content);
    if (event.type === 'tool_result') learn(copies, toJson(event.outcome));
  }
}

/** Runs for the person in conversations of others, and calls that they answered. */
async function collectPerson(job: ErasureJob, copies: Copies): Promise<void> {
  const { store, erasure } = job;
  const { db } = store;
  for await (const [after, upTo] of idRanges(db, 'runs'))
    await noteRuns(
      job,
      await db
        .selectFrom('runs')
        .select(['id as run_id', 'thread_id'])
        .where('id', '>', after)
        .where('id', '<=', upTo)
        .where('entity_id', '=', erasure.subject_id)
        .execute(),
    );
  const answered = await db
    .selectFrom('calls')
    .select(['id', 'thread_id', 'run_id', 'answer', 'wait_kind', 'rounds'])
    .where('wait_status', 'is not', null)
    .where('answered_by', '=', erasure.subject_id)
    .execute();
  for (const few of chunks(answered, 200)) {
    for (const { answer } of few) learn(copies, answer);
    const threadIds = [...new Set(few.map(({ thread_id }) => thread_id))];
    const taken = await runsThatTook(job, threadIds, few.map(callEndEvent));
    await noteRuns(job, [...few, ...taken]);
  }
}

/**
 * Forks that copied rows of these runs, and forks of forks: all their runs. A fork repeats what the original said, so it is erased as a
 * whole.
 */
async function collectForks(job: ErasureJob): Promise<void> {
  const { store, erasure } = job;
  const known = new Set<string>();
  for (;;) {
    const noted = store.db.selectFrom('erasure_runs').select('run_id').where('erasure_id', '=', erasure.id);
    const runIds = (await noted.execute()).map(({ run_id }) => run_id).filter((runId) => !known.has(runId));
    if (runIds.length === 0) return;
    for (const few of chunks(runIds, 200)) {
      for (const runId of few) known.add(runId);
      const copied = await store.db
        .selectFrom('transcript_entries')
        .innerJoin('runs', 'runs.thread_id', 'transcript_entries.thread_id')
        .select(['runs.id as run_id', 'runs.thread_id'])
        .distinct()
        .where('transcript_entries.origin_run_id', 'in', few)
        .execute();
      // The first run of a fork may not have begun.
      const queued = await store.db
        .selectFrom('transcript_entries')
        .innerJoin('forks', 'forks.thread_id', 'transcript_entries.thread_id')
        .select(['forks.run_id', 'forks.thread_id'])
        .distinct()
        .where('transcript_entries.origin_run_id', 'in', few)
        .execute();
      await noteRuns(job, [...copied, ...queued]);
    }
  }
}

async function namesOf({ store, erasure }: ErasureJob): Promise<readonly string[]> {
  if (erasure.kind !== 'person') return [];
  const row = await store.db
    .selectFrom('entities')
    .select(['display_name', 'external_id'])
    .where('id', '=', erasure.subject_id)
    .executeTakeFirst();
  return row === undefined ? [] : [row.display_name, ...(row.external_id === null ? [] : [row.external_id])];
}
