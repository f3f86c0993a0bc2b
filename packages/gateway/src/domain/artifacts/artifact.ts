import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { notFound } from '../api-error.ts';
import { findMembership } from '../spaces/membership.ts';
import type { ArtifactType } from './media-type.ts';

/** A file that a tool created or a person uploaded, without its bytes. */
export interface Artifact {
  readonly id: string;
  /** The space that saw the call or the message. Its members may read the artifact. */
  readonly spaceId: string | null;
  /** The name that its uploader gave it. */
  readonly name?: string | undefined;
  readonly mediaType: ArtifactType;
  readonly bytes: number;
}

/** A file that a tool created. */
export interface CreatedArtifact extends Artifact {
  /** The agent whose tool created it. */
  readonly agentId: string;
  readonly runId: string;
  readonly project: string;
}

export async function insertArtifact(tx: Tx, artifact: CreatedArtifact): Promise<void> {
  const { id, agentId, runId, spaceId, project, mediaType, bytes } = artifact;
  await tx.db
    .insertInto('artifacts')
    .values({
      id,
      agent_id: agentId,
      run_id: runId,
      space_id: spaceId,
      project_id: project,
      entity_id: null,
      thread_id: null,
      name: null,
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
    row.entity_id === entityId ||
    (row.space_id !== null && (await findMembership(db, row.space_id, entityId)) !== undefined);
  if (!isAllowed) throw notFound('artifact', id);
  return toArtifact(row);
}

/** For those who have a signed address of it. */
export async function getAddressed(db: Kysely<Tables>, id: string): Promise<Artifact> {
  const row = await db.selectFrom('artifacts').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('artifact', id);
  return toArtifact(row);
}

function toArtifact({ id, space_id: spaceId, name, media_type, bytes }: Selectable<Tables['artifacts']>): Artifact {
  return { id, spaceId, mediaType: media_type as ArtifactType, bytes, ...(name === null ? {} : { name }) };
}
