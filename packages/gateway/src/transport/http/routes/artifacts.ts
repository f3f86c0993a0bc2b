import { notFound } from '../../../domain/api-error.ts';
import { type Artifact, getArtifact } from '../../../domain/artifacts/artifact.ts';
import { extensionOf } from '../../../domain/artifacts/media-type.ts';
import type { ArtifactFiles } from '../../../ports/artifacts/artifact-files.ts';
import { limitedTo } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';

/** Without files, no artifact is found. */
export function artifactEndpoints(files: ArtifactFiles | undefined): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/artifacts/{id}',
      summary: 'Get an artifact, such as an image',
      description: 'Returns its bytes, to secret keys and to members of the space that saw the call which created it.',
      access: 'entity',
      answer: 'application/octet-stream',
      async handle({ caller, params: { id } }, tx): Promise<Artifact> {
        return await getArtifact(tx.db, id, { entityId: limitedTo(caller) });
      },
      async respond(artifact) {
        const body = await files?.read(artifact.id);
        if (body === undefined) throw notFound('artifact', artifact.id);
        return new Response(body, { headers: headersOf(artifact) });
      },
    }),
  ];
}

/** Opened directly, an artifact is downloaded and not shown as a page of the gateway's origin. Two headers forbid scripts. */
function headersOf({ id, mediaType, bytes }: Artifact): Record<string, string> {
  return {
    'content-type': mediaType,
    'content-length': String(bytes),
    'content-disposition': `attachment; filename="${id}.${extensionOf(mediaType)}"`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    // An artifact never changes. Shared caches must not keep it, because another reader may not be allowed to see it.
    'cache-control': 'private, max-age=3600, immutable',
  };
}
