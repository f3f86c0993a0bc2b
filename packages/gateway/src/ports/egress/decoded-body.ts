import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { LastcallError } from '@lastcall/core';

const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/** The body as it was before the server compressed it, although we ask for none of that. It stays a stream. */
export function decodedBody(body: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return body;
  if (!Object.hasOwn(DECODERS, name)) {
    body.on('error', () => {}).destroy();
    throw new LastcallError('content_encoding', 'The response has a content encoding that is not supported.');
  }
  // The reader of the decoded stream gets the error.
  return pipeline(body, DECODERS[name as keyof typeof DECODERS](), () => {});
}
