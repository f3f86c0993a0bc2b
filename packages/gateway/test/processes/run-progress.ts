import type { Site } from './site.ts';

/**
 * True if no run fails when the gateway that works on it is lost now: a third takeover without progress ends a run.
 *
 * A run that was taken over once waits for its progress. Its present worker may be lost already, and the next one may take it over between
 * this question and the loss that the test causes, so what is stored can be one takeover behind.
 */
export async function bearsAnotherLoss({ db }: Pick<Site, 'db'>): Promise<boolean> {
  const runs = await db
    .selectFrom('runs')
    .select('id')
    .where('status', '=', 'running')
    .where('attempts', '>=', 1)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('transcript_entries')
            .select('transcript_entries.seq')
            .whereRef('transcript_entries.thread_id', '=', 'runs.thread_id')
            .whereRef('transcript_entries.seq', '>', 'runs.taken_seq')
            .where('transcript_entries.kind', '!=', 'started'),
        ),
      ),
    )
    .execute();
  return runs.length === 0;
}
