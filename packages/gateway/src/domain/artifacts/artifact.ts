import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { findMembership } from '../spaces/membership.ts';
import type { ArtifactType } from './media-type.ts';

/** A file that a tool created, without its bytes. */
export interface Artifact {
  readonly id: string;
  /** The agent whose tool created it. */
  readonly agentId: string;
  readonly runId: string;
  /** The space that saw the call. Its members may read the artifact. */
  readonly spaceId: string | null;
  readonly mediaType: ArtifactType;
  readonly bytes: number;
}

export async function insertArtifact(tx: Tx, artifact: Artifact): Promise<void> {
  const { id, agentId, runId, spaceId, mediaType, bytes } = artifact;
  await tx.db
    .insertInto('artifacts')
    .values({
      id,
      agent_id: agentId,
      run_id: runId,
      space_id: spaceId,
      media_type: mediaType,
      bytes,
      created_at: tx.now(),
    })
    .execute();
}

/**
 * `entityId` is undefined for secret keys, which may read all artifacts. For others who may not read it, an artifact is "not
 * found".
 */
export async function getArtifact(
  db: Kysely<Tables>,
  id: string,
  { entityId }: { entityId: string | undefined },
): Promise<Artifact> {
  const row = await db.selectFrom('artifacts').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('artifact', id);
  const isAllowed =
    entityId === undefined ||
    (row.space_id !== null && (await findMembership(db, row.space_id, entityId)) !== undefined);
  if (!isAllowed) throw notFound('artifact', id);
  const { agent_id: agentId, run_id: runId, space_id: spaceId, bytes } = row;
  return { id, agentId, runId, spaceId, mediaType: row.media_type as ArtifactType, bytes };
}
