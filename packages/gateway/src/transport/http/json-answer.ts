import type { ServerResponse } from 'node:http';

/** The texts of answers whose body is left out. */
const texts = new WeakMap<Response, string>();

/**
 * Gives an answer without a body its JSON text, which the server writes as it is. The body of a `Response` is a stream: to make one
 * and to read it again costs more than all else that is done for an answer.
 */
export function keepText(answer: Response, text: string): void {
  if (answer.body === null) texts.set(answer, text);
}

/** Writes an answer that has its text. Returns false for any other. */
export function writeText(answer: Response, outgoing: ServerResponse): boolean {
  const text = texts.get(answer);
  if (text === undefined) return false;
  const headers = Object.fromEntries(answer.headers);
  outgoing.writeHead(answer.status, { ...headers, 'content-length': Buffer.byteLength(text) });
  outgoing.end(text);
  return true;
}
