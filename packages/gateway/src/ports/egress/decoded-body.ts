import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { LastcallError } from '@lastcall/core';

const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/**
 * The body as a stream, without the server's compression. We do not ask for compression, but a server may still use it.
 */
export function decodedBody(body: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return body;
  if (!Object.hasOwn(DECODERS, name)) {
    body.on('error', () => {}).destroy();
    throw new LastcallError('content_encoding', 'The response has a content encoding that is not supported.');
  }
  // The error is ignored here because the reader of the decoded stream gets it.
  return pipeline(body, DECODERS[name as keyof typeof DECODERS](), () => {});
}
