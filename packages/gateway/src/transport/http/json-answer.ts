import type { ServerResponse } from 'node:http';

type HeaderFields = Readonly<Record<string, string>>;

/** The texts of answers whose body is left out, and the headers of every answer. */
const texts = new WeakMap<Response, { readonly text: string; readonly headers: HeaderFields }>();

/**
 * Gives an answer without a body its JSON text and further headers, which the server writes as they are. Returns false for an answer
 * that has a body. The body of a `Response` is a stream: to make one and to read it again costs more than all else that is done for an
 * answer. To set its headers one by one costs as much as to read a small body.
 */
export function keepText(answer: Response, text: string, headers: HeaderFields): boolean {
  if (answer.body !== null) return false;
  texts.set(answer, { text, headers });
  return true;
}

/** Writes an answer that has its text. Returns false for any other. */
export function writeText(answer: Response, outgoing: ServerResponse): boolean {
  const kept = texts.get(answer);
  if (kept === undefined) return false;
  const { text, headers } = kept;
  const own = Object.fromEntries(answer.headers);
  outgoing.writeHead(answer.status, { ...headers, ...own, 'content-length': Buffer.byteLength(text) });
  outgoing.end(text);
  return true;
}
