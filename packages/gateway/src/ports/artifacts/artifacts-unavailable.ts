import { LastcallError } from '@lastcall/core';

/** What could not be done with an artifact. */
export type ArtifactAct = 'stored' | 'read' | 'deleted';

/** The bucket or the disk for artifacts cannot be used now. Nothing else is lost, and the caller may try again. */
export class ArtifactsUnavailable extends LastcallError {
  override readonly name: string = 'ArtifactsUnavailable';

  constructor(act: ArtifactAct, why: string, options?: { readonly cause: unknown }) {
    super('artifact_store', `The artifact could not be ${act}: ${why}.`, options);
  }
}
