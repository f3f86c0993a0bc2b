import { request } from 'node:http';
import type { Sent } from './odd-requests.ts';

export interface Received {
  readonly status: number;
  readonly type: string;
  /** Empty for a stream, which is not read. */
  readonly text: string;
}

/**
 * Sends a request on a connection of its own: a gateway closes a connection that was idle, and a client that uses it at that moment could not
 * tell that from a gateway that breaks off. Undefined if no answer came in time.
 */
export function sendOnce(
  url: string,
  { method, path, headers, body }: Sent,
  patienceMs: number,
): Promise<Received | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Received | undefined>();
  // Node frames no body of a DELETE by itself.
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
  // Reported once: after an answer or a lost patience it changes nothing.
  sent.on('error', reject);
  sent.end(body);
  return promise.finally(() => clearTimeout(patience));
}
