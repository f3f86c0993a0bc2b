import { DAY_MS } from '../../config/retention.ts';
import type { ArtifactFiles } from '../../ports/artifacts/artifact-files.ts';
import type { Services } from '../../ports/services.ts';
import { firstIdAt } from '../audit/first-id-at.ts';

interface ArtifactServices extends Pick<Services, 'store' | 'limits'> {
  readonly files?: ArtifactFiles | undefined;
}

/** Deletes artifacts that are older than `retention.artifacts`, oldest first. The next sweep deletes the rest. */
export async function sweepArtifacts(
  { store, limits, files }: ArtifactServices,
  { now }: { now?: number } = {},
): Promise<number> {
  if (limits.artifactDays === Number.POSITIVE_INFINITY) return 0;
  const at = now ?? (await store.transaction(async (tx) => tx.now()));
  const oldest = await store.db
    .selectFrom('artifacts')
    .select('id')
    .where('id', '<', firstIdAt(at - limits.artifactDays * DAY_MS))
    .orderBy('id')
    .limit(100)
    .execute();
  for (const { id } of oldest) {
    // The bytes go first: a row without bytes is found again, bytes without a row never.
    await files?.remove(id);
    await store.transaction((tx) => tx.db.deleteFrom('artifacts').where('id', '=', id).execute());
  }
  return oldest.length;
}
