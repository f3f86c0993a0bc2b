import { type CreatedArtifact, insertArtifact } from '../../domain/artifacts/artifact.ts';
import type { ArtifactType } from '../../domain/artifacts/media-type.ts';
import { newId } from '../../domain/new-id.ts';
import type { ArtifactFiles } from '../../ports/artifacts/artifact-files.ts';
import type { Services } from '../../ports/services.ts';
import { fenced } from '../lease/lease.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { StoredArtifact } from '../tools/image/store-artifact.ts';

/**
 * Stores the bytes and then their row, so that every row has its bytes. This is not part of the call's settlement,
 * because a call inside a sub-agent has none.
 */
export async function storeArtifact(
  { store }: Services,
  { lease, agent, runId }: ActiveRun,
  { files, spaceId, bytes, mediaType }: NewArtifact,
): Promise<StoredArtifact> {
  const artifact: CreatedArtifact = {
    ...{ id: newId(), agentId: agent.id, runId, spaceId, project: agent.project.id },
    ...{ mediaType, bytes: bytes.length },
  };
  await files.write(artifact.id, bytes);
  await fenced(store, lease, (tx) => insertArtifact(tx, artifact));
  return { url: `/api/artifacts/${artifact.id}`, mediaType, bytes: bytes.length };
}

export interface NewArtifact {
  readonly files: ArtifactFiles;
  readonly spaceId: string | null;
  readonly bytes: Uint8Array;
  readonly mediaType: ArtifactType;
}
