import type { ArtifactType } from '../../../domain/artifacts/media-type.ts';

/** What the model and the space see of an artifact. */
export interface StoredArtifact {
  /** A path on the gateway. */
  readonly url: string;
  readonly mediaType: ArtifactType;
  readonly bytes: number;
}

/** Returns the function that stores what the running call has made. Call it at the start of `execute`. */
export type StoreArtifact = () => (bytes: Uint8Array, mediaType: ArtifactType) => Promise<StoredArtifact>;
