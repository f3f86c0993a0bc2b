import { z } from 'zod';
import { ApiError, notFound } from '../../../domain/api-error.ts';
import { assertAddress, signAddress } from '../../../domain/artifacts/address.ts';
import { type Artifact, getAddressed, getArtifact } from '../../../domain/artifacts/artifact.ts';
import { artifactTypeOf, extensionOf } from '../../../domain/artifacts/media-type.ts';
import { insertUpload, type Upload } from '../../../domain/artifacts/upload.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import { newId } from '../../../domain/new-id.ts';
import { isVisible } from '../../../domain/projects/is-visible.ts';
import type { ArtifactFiles } from '../../../ports/artifacts/artifact-files.ts';
import type { Tx } from '../../../ports/store/store.ts';
import { type Caller, limitedTo, viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { numberInQuery } from '../fields.ts';
import { fileFields, readSentFile } from '../file-form.ts';
import { actingFor } from '../on-behalf.ts';
import { attachmentSchema } from '../schemas/message.ts';

/** Without files, no artifact is found and none can be uploaded. */
export function artifactEndpoints(files: ArtifactFiles | undefined, secret: Uint8Array): readonly Endpoint[] {
  const send = async (artifact: Artifact, more: Readonly<Record<string, string>> = {}): Promise<Response> => {
    // Otherwise a client waits for the rest of a file that is too short.
    const body = await files?.read(artifact.id, artifact.bytes);
    if (body === undefined) throw new ApiError('not_found', lostFile(artifact));
    return new Response(body, { headers: { ...headersOf(artifact), ...more } });
  };
  return [
    endpoint({
      method: 'post',
      path: '/api/artifacts',
      summary: 'Send a file, to attach it to a message',
      description:
        'The body is the file, or a form (`multipart/form-data`) with one file, in which `name` and `entityId` may be fields. Its type is detected from its bytes. A file that is in no message after a day is deleted.',
      access: 'entity',
      query: z.strictObject(fileFields),
      status: 201,
      answer: attachmentSchema,
      refusals: [404],
      upload: {
        mostBytes: ({ artifactBytes }) => artifactBytes,
        async store(bytes, headers): Promise<Received | undefined> {
          if (bytes.length === 0 || files === undefined) return undefined;
          const file = await readSentFile(bytes, headers).catch((error: unknown) => asRefusal(error));
          if (file instanceof ApiError) return { refusal: file };
          if (file.bytes.length === 0) return undefined;
          const mediaType = artifactTypeOf(file.bytes, file.mediaType);
          const upload = { id: newId(), mediaType, bytes: file.bytes.length };
          await files.write(upload.id, file.bytes);
          return { upload, name: file.name, entityId: file.entityId };
        },
        async drop(opened) {
          const { upload } = (opened ?? {}) as Partial<Received>;
          if (upload !== undefined) await files?.remove(upload.id);
        },
      },
      async handle({ caller, query, opened }, tx) {
        const { upload, refusal, ...fields } = (opened ?? {}) as Partial<Received>;
        if (refusal !== undefined) throw refusal;
        await assertVisible(tx, caller, fields.entityId);
        const entityId = actingFor(caller, query.entityId ?? fields.entityId);
        if (entityId === undefined)
          throw invalid('entityId', 'is required with a secret key: it says who uploads the file.');
        if (files === undefined) throw new ApiError('forbidden', 'This gateway stores no files.');
        if (upload === undefined) throw invalid('body', 'must be the file. It is empty.');
        return await insertUpload(tx, { upload, entityId, name: query.name ?? fields.name ?? '' });
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

function lostFile({ id }: Artifact): string {
  return `The file of artifact "${id}" is missing or damaged. Restore it from a backup. Gateways on one database need the same files.`;
}

/** A file whose bytes are stored, or why it is refused. */
interface Received {
  readonly upload?: Upload;
  readonly refusal?: ApiError;
  /** What a form said beside the file. */
  readonly name?: string | undefined;
  readonly entityId?: string | undefined;
}

/** A wrong form is refused only after the caller was checked. */
function asRefusal(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** An entity of the query was checked by project-rules.ts. One that a form names is checked here. */
async function assertVisible({ db }: Tx, caller: Caller, id: string | undefined): Promise<void> {
  if (id === undefined || limitedTo(caller) !== undefined) return;
  if (!(await isVisible(db, { kind: 'entity', id }, viewOf(caller)))) throw notFound('entity', id);
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
