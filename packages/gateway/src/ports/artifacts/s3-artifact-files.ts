import { createHash } from 'node:crypto';
import { LastcallError } from '@lastcall/core';
import type { Egress, EgressResponse } from '../egress/egress.ts';
import { EgressRefused } from '../egress/egress-refused.ts';
import type { ArtifactFiles } from './artifact-files.ts';
import { type ArtifactAct, ArtifactsUnavailable } from './artifacts-unavailable.ts';

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
      const answer = await send(options, { act: 'stored', url: urlOf(id), method: 'PUT', body: bytes });
      if (answer.status >= 300) throw refused('stored', answer, await codeOf(answer));
      discard(answer);
    },
    async remove(id) {
      const answer = await send(options, { act: 'deleted', url: urlOf(id), method: 'DELETE' });
      if (answer.status >= 300 && answer.status !== 404) throw refused('deleted', answer, await codeOf(answer));
      discard(answer);
    },
    async read(id) {
      const answer = await send(options, { act: 'read', url: urlOf(id), method: 'GET' });
      if (answer.status === 200) return streamOf(answer);
      const code = await codeOf(answer);
      if (answer.status === 404 && code !== 'NoSuchBucket') return undefined;
      throw refused('read', answer, code);
    },
  };
}

interface S3Request {
  readonly act: ArtifactAct;
  readonly url: string;
  readonly method: string;
  readonly body?: Uint8Array;
}

/** The signature covers the bytes, too. */
async function send(
  { credentials, egress, region }: Pick<S3Options, 'credentials' | 'egress' | 'region'>,
  { act, url, method, body }: S3Request,
): Promise<EgressResponse> {
  const { AwsClient } = await loadClient();
  const client = new AwsClient({ ...credentials(), region, service: 's3' });
  const hash = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  const { headers } = await client.sign(url, { method, headers: { 'x-amz-content-sha256': hash } });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  // Redirects are refused: the new request would need another signature.
  try {
    return await egress.request({ url, method, headers: Object.fromEntries(headers), body, signal, redirect: 'error' });
  } catch (cause) {
    const why = cause instanceof EgressRefused ? cause.message.replace(/\.$/, '') : 'the S3 server does not answer';
    throw new ArtifactsUnavailable(act, why, { cause });
  }
}

async function loadClient(): Promise<typeof import('aws4fetch')> {
  try {
    return await import('aws4fetch');
  } catch (cause) {
    const message = 'Artifacts in S3 need the package aws4fetch, which cannot be loaded: npm install aws4fetch';
    throw new LastcallError('artifact_store', message, { cause });
  }
}

/** The bytes of an object. After `Readable.toWeb`, a stream that is cancelled before its first byte came would end the process. */
function streamOf(answer: EgressResponse): ReadableStream<Uint8Array> {
  const chunks = answer.body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => discard(answer),
  });
}

/** Closes the body without reading the rest. Errors while it closes are ignored. */
function discard({ body }: EgressResponse): void {
  body.on('error', () => {}).destroy();
}

function refused(act: ArtifactAct, { status }: EgressResponse, code: string | undefined): ArtifactsUnavailable {
  return new ArtifactsUnavailable(act, `the S3 server answered ${status}${code === undefined ? '' : ` ${code}`}`);
}

/** A refusal is shorter than this. */
const LONGEST_REFUSAL = 10_000;

/** Why the server refused a request, in its own word, e.g. `NoSuchBucket`. Closes the body. */
async function codeOf(answer: EgressResponse): Promise<string | undefined> {
  let text = '';
  try {
    for await (const chunk of answer.body) {
      text += String(chunk);
      if (text.length > LONGEST_REFUSAL) break;
    }
  } catch {
    // The status alone is reported.
  }
  discard(answer);
  return /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
}
