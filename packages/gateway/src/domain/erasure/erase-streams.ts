import type { Tx } from '../../ports/store/store.ts';
import { chunks } from '../chunks.ts';
import { spaceStream } from '../streams/stream-names.ts';
import { type Collected, type ErasureJob, inPiece } from './erasure-job.ts';

/**
 * Deletes what the streams of spaces still hold for clients that missed it: pieces of texts, cards and names of files, in any form. These are
 * the spaces of the person or agent, and those to which an agent may have posted what it made of the texts.
 */
export async function eraseSpaceStreams(job: ErasureJob, { threadIds }: Collected): Promise<void> {
  const { store, erasure } = job;
  const spaceIds = new Set(erasure.kind === 'space' ? [erasure.subject_id] : []);
  const joined = store.db.selectFrom('memberships').select('space_id').distinct();
  const theirs = await joined.where('entity_id', '=', erasure.subject_id).execute();
  for (const { space_id } of theirs) spaceIds.add(space_id);
  for (const few of chunks(threadIds, 500)) {
    const agents = store.db.selectFrom('threads').select('agent_id').where('id', 'in', few).where('kind', '=', 'agent');
    for (const { space_id } of await joined.where('entity_id', 'in', agents).execute()) spaceIds.add(space_id);
  }
  for (const few of chunks([...spaceIds].map(spaceStream), 20))
    await inPiece(job, async (tx) => {
      await deleteEvents(tx, few);
      return 0;
    });
}

/** Readers that come back learn that events are missing, as after a sweep. */
export async function deleteEvents(tx: Tx, streams: readonly string[]): Promise<void> {
  await tx.db.deleteFrom('stream_events').where('stream', 'in', streams).execute();
  await tx.db
    .updateTable('streams')
    .set((eb) => ({ swept_seq: eb('next_seq', '-', 1), oldest_at: null }))
    .where('id', 'in', streams)
    .execute();
}
