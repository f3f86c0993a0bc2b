import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErasureRow } from '../../ports/store/schema/tables.ts';
import { deleteConversation } from '../conversations/delete-conversation.ts';
import { applyAllChanges } from '../search/update-index.ts';
import { collectTexts, dropCollected, readCollected } from './collect-texts.ts';
import { eraseCopies } from './erase-copies.ts';
import { eraseGrants } from './erase-grants.ts';
import { eraseSources } from './erase-sources.ts';
import { eraseSpaceStreams } from './erase-streams.ts';
import { eraseThreads } from './erase-threads.ts';
import {
  type ErasureJob,
  type ErasureServices,
  ErasureTaken,
  holdThread,
  inPiece,
  noteProgress,
  ownedMs,
} from './erasure-job.ts';
import { idRanges, wholeThreads } from './source-texts.ts';
import { ERASED_TABLES } from './text-columns.ts';

/**
 * Performs the erasures that were ordered, one after the other. Every phase can be repeated, so an erasure whose gateway was killed is
 * continued by the next one:
 *
 *   collect   what is erased, as hashes, and the runs that took it
 *   sources   the texts themselves
 *   threads   what models and tools made of them
 *   copies    copies in everything else
 *   files     artifacts, and what the database's files still hold of old rows
 */
export async function performErasures(services: ErasureServices): Promise<void> {
  const owner = `erasure:${randomUUID()}`;
  for (;;) {
    const erasure = await claimErasure(services, owner);
    if (erasure === undefined) return;
    const job: ErasureJob = { ...services, erasure, owner };
    try {
      await performErasure(job);
    } catch (error) {
      if (error instanceof ErasureTaken) continue;
      await noteError(job, error);
      throw error;
    }
  }
}

async function claimErasure({ store, ...services }: ErasureServices, owner: string): Promise<ErasureRow | undefined> {
  return await store.transaction(async (tx) => {
    const open = tx.db
      .selectFrom('erasures')
      .selectAll()
      .where('status', '=', 'running')
      .where('owned_until', '<=', tx.now())
      .orderBy('created_at')
      .limit(1);
    const found = await open.forUpdate().skipLocked().executeTakeFirst();
    if (found === undefined) return undefined;
    const set = { owner, owned_until: tx.now() + ownedMs(services) };
    await tx.db.updateTable('erasures').set(set).where('id', '=', found.id).execute();
    return { ...found, ...set };
  });
}

async function performErasure(job: ErasureJob): Promise<void> {
  const { store, erasure } = job;
  if (erasure.phase === 'collect') await collectTexts(job);
  const collected = await readCollected(job);
  await eraseSources(job);
  await store.transaction((tx) => noteProgress(tx, job, { phase: 'threads' }));
  await eraseThreads(job, collected);
  await store.transaction((tx) => noteProgress(tx, job, { phase: 'copies' }));
  await eraseGrants(job, collected);
  await eraseCopies(job, collected);
  await eraseSpaceStreams(job, collected);
  await store.transaction((tx) => noteProgress(tx, job, { phase: 'files' }));
  await eraseArtifacts(job, collected.runIds);
  if (erasure.kind === 'conversation') await deleteErased(job);
  await dropCollected(job);
  await applyAllChanges(store);
  await store.reclaim(ERASED_TABLES, () => store.transaction((tx) => noteProgress(tx, job)));
  await store.transaction(async (tx) => {
    await noteProgress(tx, job, { phase: 'done' });
    await tx.db
      .updateTable('erasures')
      .set({ status: 'done', done_at: tx.now(), error: null, owner: null })
      .where('id', '=', erasure.id)
      .execute();
  });
}

/** Its run was cancelled. Callers that wait for the run are told how it ended, before it is gone. */
async function deleteErased(job: ErasureJob): Promise<void> {
  const { store, erasure } = job;
  const running = store.db
    .selectFrom('runs')
    .select('id')
    .where('thread_id', '=', erasure.subject_id)
    .where('status', '=', 'running');
  for (let tries = 0; tries < END_TRIES && (await running.executeTakeFirst()) !== undefined; tries++) {
    await store.transaction((tx) => noteProgress(tx, job));
    await sleep(END_RETRY_MS);
  }
  if (await holdThread(job, erasure.subject_id))
    await store.transaction((tx) => deleteConversation(tx, erasure.subject_id));
}

const END_TRIES = 50;
const END_RETRY_MS = 200;

/** Files that tools made in these runs, uploads of the person, and those of the space, the agent or the conversation. */
async function eraseArtifacts(job: ErasureJob, runIds: ReadonlySet<string>): Promise<void> {
  const { store, erasure, files } = job;
  const { kind, subject_id } = erasure;
  const whole = new Set(await wholeThreads(store.db, erasure));
  for await (const [after, upTo] of idRanges(store.db, 'artifacts')) {
    const rows = await store.db
      .selectFrom('artifacts')
      .select(['id', 'run_id', 'space_id', 'agent_id', 'entity_id', 'thread_id'])
      .where('id', '>', after)
      .where('id', '<=', upTo)
      .execute();
    for (const { id, run_id, space_id, agent_id, entity_id, thread_id } of rows) {
      const isErased =
        (run_id !== null && runIds.has(run_id)) ||
        (thread_id !== null && whole.has(thread_id)) ||
        OWNER[kind]({ space_id, agent_id, entity_id }) === subject_id;
      if (!isErased) continue;
      // The bytes go first: a row without bytes is found again, bytes without a row never.
      await files?.remove(id);
      await inPiece(job, async (tx) => {
        await tx.db.deleteFrom('artifacts').where('id', '=', id).execute();
        return 1;
      });
    }
  }
}

type Owners = Readonly<Record<'space_id' | 'agent_id' | 'entity_id', string | null>>;

const OWNER: Readonly<Record<ErasureRow['kind'], (artifact: Owners) => string | null>> = {
  person: ({ entity_id }) => entity_id,
  space: ({ space_id }) => space_id,
  agent: ({ agent_id }) => agent_id,
  conversation: () => null,
};

/** The next attempt waits until the erasure is free again. */
async function noteError({ store, erasure, owner }: ErasureJob, error: unknown): Promise<void> {
  const message = String((error as Error | null)?.message ?? error).slice(0, 500);
  await store.transaction(async (tx) => {
    const own = tx.db.updateTable('erasures').set({ error: message }).where('id', '=', erasure.id);
    await own.where('owner', '=', owner).execute();
  });
}
