import type { Readable } from 'node:stream';
import { inexactNumber, parseJson } from '@lastcall/core/internal';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';

/** How much of a response is read. The connection is closed after that. */
const MOST_BYTES = 1_048_576;

/** Longer than any form of a secret: a secret that begins before the limit is read completely, and so found. */
const MARGIN_BYTES = 65_536;

const CUT = '\n[cut: the response was longer than 1 MiB]';

interface ReceivedBody {
  readonly body: Readable;
  readonly contentType: string | undefined;
  /** True if the value must fit a schema, which text does not. */
  readonly hasSchema?: boolean;
}

/**
 * The body of a response: JSON as a value, anything else as text, with secrets removed. JSON with a number that cannot be read exactly, such as
 * a long id, stays text too, so that the model reads the number that was sent.
 */
export async function readResponse(
  { body, contentType, hasSchema = false }: ReceivedBody,
  secrets: KnownSecrets,
): Promise<unknown> {
  const { bytes, hasEnded } = await readBytes(body);
  const text = decode(bytes, contentType);
  if (bytes.length > MOST_BYTES) return cutText(secrets.removeFrom(text), hasEnded);
  const isValue = isJson(contentType) && (hasSchema || inexactNumber(text) === undefined);
  const json = isValue ? parsed(text, secrets) : undefined;
  return json === undefined ? secrets.removeFrom(text) : json.value;
}

interface ReadBytes {
  readonly bytes: Buffer;
  /** False if there was more, which was not received. */
  readonly hasEnded: boolean;
}

/** Uses events, because an asynchronous loop over the stream costs a tenth of a short request. */
function readBytes(body: Readable): Promise<ReadBytes> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadBytes>();
  const pieces: Buffer[] = [];
  let length = 0;
  let isRead = false;
  const finish = (hasEnded: boolean): void => {
    isRead = true;
    resolve({ bytes: Buffer.concat(pieces), hasEnded });
  };
  body.on('data', (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length < MOST_BYTES + MARGIN_BYTES) return;
    finish(false);
    // Closes the connection, because a body may never end.
    body.destroy();
  });
  body.once('end', () => finish(true));
  body.on('error', reject);
  body.once('close', () => {
    if (!isRead) reject(new Error('The response broke off.'));
  });
  return promise;
}

/** If there was more, the end of the text is cut off too: it may be the beginning of a secret. */
function cutText(text: string, hasEnded: boolean): string {
  const end = hasEnded ? MOST_BYTES : Math.min(MOST_BYTES, Math.max(0, text.length - MARGIN_BYTES));
  return `${text.slice(0, end).toWellFormed()}${CUT}`;
}

function isJson(contentType: string | undefined): boolean {
  return contentType === undefined || /^[^;]*[/+]json\b/i.test(contentType);
}

/** Undefined if the text is not JSON, regardless of its content type, or is nested too deeply to process. */
function parsed(text: string, secrets: KnownSecrets): { readonly value: unknown } | undefined {
  try {
    return { value: secrets.removeFromAll(parseJson(text) as unknown) };
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array, contentType = ''): string {
  const charset = /charset="?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
