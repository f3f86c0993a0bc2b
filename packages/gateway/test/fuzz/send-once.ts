import { request } from 'node:http';
import type { Sent } from './odd-requests.ts';

export interface Received {
  readonly status: number;
  readonly type: string;
  /** Empty for a stream, which is not read. */
  readonly text: string;
}

/**
 * Sends a request on a new connection: a gateway closes idle connections, and a client that uses one at that moment could not
 * distinguish that from a gateway that fails. Undefined if no answer came in time.
 */
export function sendOnce(
  url: string,
  { method, path, headers, body }: Sent,
  patienceMs: number,
): Promise<Received | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Received | undefined>();
  // Node does not send the body of a DELETE without a content-length.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const sent = request(url + path, { method, headers: { ...headers, ...length }, agent: false }, (response) => {
    const { statusCode: status = 0, headers: received } = response;
    const type = String(received['content-type'] ?? '');
    if (type.startsWith('text/event-stream')) {
      resolve({ status, type, text: '' });
      sent.destroy();
      return;
    }
    const pieces: Buffer[] = [];
    response.on('data', (piece: Buffer) => pieces.push(piece));
    response.on('error', reject);
    response.on('end', () => resolve({ status, type, text: Buffer.concat(pieces).toString('utf8') }));
  });
  const patience = setTimeout(() => {
    resolve(undefined);
    sent.destroy();
  }, patienceMs);
  // An error after the answer or the timeout has no effect.
  sent.on('error', reject);
  sent.end(body);
  return promise.finally(() => clearTimeout(patience));
}
