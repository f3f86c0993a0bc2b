import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { LastcallError } from '@lastcall/core';
import type { Egress, EgressResponse } from '../egress/egress.ts';
import type { ArtifactFiles } from './artifact-files.ts';

export interface S3Options {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly prefix?: string | undefined;
  /** Read for each request, because the credentials may change. */
  readonly credentials: () => { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly egress: Pick<Egress, 'request'>;
}

const TIMEOUT_MS = 60_000;

/** Objects in a bucket that all gateways share. */
export function createS3ArtifactFiles({ endpoint, bucket, prefix = '', ...options }: S3Options): ArtifactFiles {
  const urlOf = (id: string): string => `${endpoint}/${bucket}/${prefix}${id}`;
  return {
    async write(id, bytes) {
      const answer = await send(options, { url: urlOf(id), method: 'PUT', body: bytes });
      discard(answer);
      if (answer.status >= 300) throw failed('store', answer);
    },
    async remove(id) {
      const answer = await send(options, { url: urlOf(id), method: 'DELETE' });
      discard(answer);
      if (answer.status >= 300 && answer.status !== 404) throw failed('delete', answer);
    },
    async read(id) {
      const answer = await send(options, { url: urlOf(id), method: 'GET' });
      if (answer.status === 200) return Readable.toWeb(answer.body) as ReadableStream<Uint8Array>;
      discard(answer);
      if (answer.status === 404) return undefined;
      throw failed('read', answer);
    },
  };
}

/** The signature covers the bytes, too. */
async function send(
  { credentials, egress, region }: Pick<S3Options, 'credentials' | 'egress' | 'region'>,
  { url, method, body }: { readonly url: string; readonly method: string; readonly body?: Uint8Array },
): Promise<EgressResponse> {
  const { AwsClient } = await loadClient();
  const client = new AwsClient({ ...credentials(), region, service: 's3' });
  const hash = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  const { headers } = await client.sign(url, { method, headers: { 'x-amz-content-sha256': hash } });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  // Redirects are refused: the new request would need another signature.
  return await egress.request({ url, method, headers: Object.fromEntries(headers), body, signal, redirect: 'error' });
}

async function loadClient(): Promise<typeof import('aws4fetch')> {
  try {
    return await import('aws4fetch');
  } catch (cause) {
    const message = 'Artifacts in S3 need the package aws4fetch, which cannot be loaded: npm install aws4fetch';
    throw new LastcallError('artifact_store', message, { cause });
  }
}

/** Closes the body without reading the rest. Errors while it closes are ignored. */
function discard({ body }: EgressResponse): void {
  body.on('error', () => {}).destroy();
}

function failed(what: 'store' | 'read' | 'delete', { status }: EgressResponse): LastcallError {
  return new LastcallError(
    'artifact_store',
    `The artifact could not be ${DONE[what]}: the S3 server answered ${status}.`,
  );
}

const DONE = { store: 'stored', read: 'read', delete: 'deleted' } as const;
