import { z } from 'zod';
import { ApiError, notFound } from '../../../domain/api-error.ts';
import { assertAddress, signAddress } from '../../../domain/artifacts/address.ts';
import { type Artifact, getAddressed, getArtifact } from '../../../domain/artifacts/artifact.ts';
import { artifactTypeOf, extensionOf } from '../../../domain/artifacts/media-type.ts';
import { insertUpload, type Upload } from '../../../domain/artifacts/upload.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import { newId } from '../../../domain/new-id.ts';
import type { ArtifactFiles } from '../../../ports/artifacts/artifact-files.ts';
import { limitedTo } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, numberInQuery } from '../fields.ts';
import { actingFor } from '../on-behalf.ts';
import { attachmentSchema } from '../schemas/message.ts';

/** Without files, no artifact is found and none can be uploaded. */
export function artifactEndpoints(files: ArtifactFiles | undefined, secret: Uint8Array): readonly Endpoint[] {
  const send = async (artifact: Artifact, more: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const body = await files?.read(artifact.id);
    if (body === undefined) throw notFound('artifact', artifact.id);
    return new Response(body, { headers: { ...headersOf(artifact), ...more } });
  };
  return [
    endpoint({
      method: 'post',
      path: '/api/artifacts',
      summary: 'Send a file, to attach it to a message',
      description:
        'The body is the file. Its type is detected from its bytes. A file that is in no message after a day is deleted.',
      access: 'entity',
      query: z.strictObject({
        name: z.string().max(1_000).optional().meta({ description: 'The name of the file. Default: its id.' }),
        entityId: idField.optional().meta({ description: 'Who uploads it. Required with a secret key.' }),
      }),
      status: 201,
      answer: attachmentSchema,
      refusals: [404],
      upload: {
        mostBytes: ({ artifactBytes }) => artifactBytes,
        async store(bytes, headers): Promise<Upload | undefined> {
          if (bytes.length === 0 || files === undefined) return undefined;
          const said = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
          const upload = { id: newId(), mediaType: artifactTypeOf(bytes, said), bytes: bytes.length };
          await files.write(upload.id, bytes);
          return upload;
        },
        async drop(upload) {
          if (upload !== undefined) await files?.remove((upload as Upload).id);
        },
      },
      async handle({ caller, query, opened }, tx) {
        const entityId = actingFor(caller, query.entityId);
        if (entityId === undefined)
          throw invalid('entityId', 'is required with a secret key: it says who uploads the file.');
        if (files === undefined) throw new ApiError('forbidden', 'This gateway stores no files.');
        if (opened === undefined) throw invalid('body', 'must be the file. It is empty.');
        return await insertUpload(tx, { upload: opened as Upload, entityId, name: query.name ?? '' });
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/artifacts/{id}',
      summary: 'Get an artifact, such as an image',
      description:
        'Returns its bytes, to secret keys, to the person who uploaded it, and to members of the space that saw the call or the message.',
      access: 'entity',
      answer: 'application/octet-stream',
      async handle({ caller, params: { id } }, tx): Promise<Artifact> {
        return await getArtifact(tx.db, id, { entityId: limitedTo(caller) });
      },
      respond: (artifact) => send(artifact),
    }),
    endpoint({
      method: 'get',
      path: '/api/artifacts/{id}/address',
      summary: 'Get an address of an artifact that a page can load',
      description:
        'For `<img>` and links, which send no credentials. Everyone who has the address can load the artifact, for ten minutes.',
      access: 'entity',
      answer: z.strictObject({ url: z.string().meta({ description: 'A path on the gateway.' }), expiresAt: z.int() }),
      async handle({ caller, params: { id } }, tx) {
        const artifact = await getArtifact(tx.db, id, { entityId: limitedTo(caller) });
        return signAddress(secret, artifact.id, Date.now());
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/artifacts/{id}/content',
      summary: 'Get an artifact by its signed address',
      access: 'anyone',
      hasSignedAddress: true,
      query: z.strictObject({
        expires: numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        signature: z.string().max(100),
      }),
      answer: 'application/octet-stream',
      refusals: [403, 404],
      async handle({ params: { id }, query }, tx): Promise<Artifact> {
        assertAddress(secret, { id, ...query }, Date.now());
        return await getAddressed(tx.db, id);
      },
      // Pages of other origins may show it: their users were given the address.
      respond: (artifact) => send(artifact, { 'cross-origin-resource-policy': 'cross-origin' }),
    }),
  ];
}

/** Opened directly, an artifact is downloaded and not shown as a page of the gateway's origin. Two headers forbid scripts. */
function headersOf(artifact: Artifact): Record<string, string> {
  return {
    'content-type': artifact.mediaType,
    'content-length': String(artifact.bytes),
    'content-disposition': dispositionOf(artifact),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    // An artifact never changes. Shared caches must not keep it, because another reader may not be allowed to see it.
    'cache-control': 'private, max-age=3600, immutable',
  };
}

function dispositionOf({ id, name, mediaType }: Artifact): string {
  const plain = `attachment; filename="${id}.${extensionOf(mediaType)}"`;
  // The second form is for names that are not plain ASCII: RFC 6266.
  return name === undefined ? plain : `${plain}; filename*=UTF-8''${encodeExtended(name)}`;
}

/** `encodeURIComponent` leaves four characters that the extended form does not allow. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
