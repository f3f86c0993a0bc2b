import type { ServerResponse } from 'node:http';

type HeaderFields = Readonly<Record<string, string>>;

/** The texts of responses without a body, and their further headers. */
const texts = new WeakMap<Response, { readonly text: string; readonly headers: HeaderFields }>();

/**
 * Gives a response without a body its JSON text and further headers, which the server writes directly. Returns false for a
 * response that has a body. The body of a `Response` is a stream: creating it and reading it again costs more than everything
 * else in a response. Setting its headers one by one costs as much as reading a small body.
 */
export function keepText(answer: Response, text: string, headers: HeaderFields): boolean {
  if (answer.body !== null) return false;
  texts.set(answer, { text, headers });
  return true;
}

/** Writes a response that has its text. Returns false for any other. */
export function writeText(answer: Response, outgoing: ServerResponse): boolean {
  const kept = texts.get(answer);
  if (kept === undefined) return false;
  const { text, headers } = kept;
  const own = Object.fromEntries(answer.headers);
  outgoing.writeHead(answer.status, { ...headers, ...own, 'content-length': Buffer.byteLength(text) });
  outgoing.end(text);
  return true;
}
