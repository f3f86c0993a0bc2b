import type { ArtifactType } from '../../../domain/artifacts/media-type.ts';

/** What the model and the space are told of an artifact. */
export interface StoredArtifact {
  /** A path of the gateway. */
  readonly url: string;
  readonly mediaType: ArtifactType;
  readonly bytes: number;
}

/** Gives the function that stores what the running call has made. Call it at the start of `execute`. */
export type StoreArtifact = () => (bytes: Uint8Array, mediaType: ArtifactType) => Promise<StoredArtifact>;
