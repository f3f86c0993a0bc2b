import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { longNumbers, parseJson } from '@lastcall/core/internal';
import { ApiError } from '../../domain/api-error.ts';
import type { Place } from '../places.ts';

export interface BodyOptions {
  readonly mostBytes: number;
  /** How long it may take to arrive. */
  readonly timeoutMs: number;
  /** The incoming message, behind a server. Reading it costs less than the body of a `Request`, which is a stream around it. */
  readonly incoming: Incoming | undefined;
  /** Takes the place that a body needs while it arrives, or throws. A body that has arrived completely needs none. */
  readonly takePlace: () => Place;
}

type Incoming = Readable & Partial<Pick<IncomingMessage, 'complete'>>;

/** The bytes of the body. If there are more than allowed, it throws and does not read the rest. Undefined if there is no body. */
export async function readBody(request: Request, options: BodyOptions): Promise<Uint8Array | undefined> {
  const { mostBytes, incoming } = options;
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > mostBytes) throw tooLarge(mostBytes);
  const bytes =
    incoming === undefined ? await readWeb(request, mostBytes) : await readArriving(incoming, announced, options);
  return bytes.byteLength === 0 ? undefined : bytes;
}

async function readArriving(
  incoming: Incoming,
  announced: number,
  { mostBytes, timeoutMs, takePlace }: BodyOptions,
): Promise<Uint8Array> {
  // `complete` is set one turn of the event loop late, so the bytes that have arrived are counted too.
  const isWhole = incoming.complete !== false || (announced > 0 && incoming.readableLength >= announced);
  if (isWhole) return await readIncoming(incoming, mostBytes).bytes;
  const place = takePlace();
  const { bytes, refuse } = readIncoming(incoming, mostBytes);
  const timer = setTimeout(() => refuse(tooSlow(timeoutMs)), timeoutMs);
  try {
    return await bytes;
  } finally {
    clearTimeout(timer);
    place.release();
  }
}

async function readWeb(request: Request, mostBytes: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving this loop cancels the body.
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > mostBytes) throw tooLarge(mostBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** This does not use `for await`, because leaving that loop would cut the connection before the response. */
function readIncoming(incoming: Readable, mostBytes: number): Arriving {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const refuse = (error: ApiError): void => {
    incoming.off('data', take).pause();
    chunks.length = 0;
    reject(error);
  };
  const take = (chunk: Uint8Array): void => {
    size += chunk.byteLength;
    chunks.push(chunk);
    if (size > mostBytes) refuse(tooLarge(mostBytes));
  };
  // Every body emits `close` in the end. Creating an error that is never used costs more than reading this flag.
  let isComplete = false;
  const isCutOff = (): void => {
    if (!isComplete) reject(new ApiError('bad_request', 'The body was cut off.'));
  };
  incoming.on('data', take);
  incoming.once('end', () => {
    isComplete = true;
    resolve(Buffer.concat(chunks));
  });
  incoming.once('error', isCutOff);
  incoming.once('close', isCutOff);
  if (incoming.destroyed) isCutOff();
  return { bytes: promise, refuse };
}

/** A body that is being read. */
interface Arriving {
  readonly bytes: Promise<Uint8Array>;
  /** Stops reading. */
  readonly refuse: (error: ApiError) => void;
}

export function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? '');
}

/** The text of a body that is no JSON. A byte order mark is part of it. */
export function textOf(bytes: Uint8Array = new Uint8Array()): string {
  return decode(bytes, wholeUtf8);
}

interface ParseOptions {
  /** Numbers that we could not store exactly are read as texts, and not refused. */
  readonly hasLargeNumbers?: boolean;
}

/** Parses JSON text to a value that is safe to traverse, store and send on. */
export function parseBody(
  bytes: Uint8Array,
  contentType: string | null,
  { hasLargeNumbers = false }: ParseOptions = {},
): unknown {
  if (!isJson(contentType))
    throw new ApiError('unsupported_media_type', 'The body must be sent as Content-Type: application/json.');
  const text = decode(bytes);
  assertShallow(text);
  const value = parse(hasLargeNumbers ? withLargeAsTexts(text) : text);
  assertSound(value, '');
  return value;
}

function tooLarge(mostBytes: number): ApiError {
  return new ApiError('body_too_large', `The body must be ${mostBytes} bytes or less.`, {
    details: { limit: mostBytes },
  });
}

function tooSlow(timeoutMs: number): ApiError {
  const message = `The body did not arrive within ${timeoutMs} ms (limits.bodyTimeoutMs). Nothing was done. Send it again.`;
  return new ApiError('body_timeout', message, { details: { limit: timeoutMs } });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const wholeUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array, decoder: typeof utf8 = utf8): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new ApiError('invalid_utf8', 'The body is not UTF-8 text.', { cause });
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    // The cause's message is not used, because it quotes the body.
    throw new ApiError('invalid_json', 'The body is not JSON.', { cause });
  }
}

const DEEPEST = 64;

/** Checked before parsing, so that later code may traverse the value by recursion. */
function assertShallow(text: string): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === BACKSLASH) index++;
      else if (character === QUOTE) inString = false;
    } else if (character === QUOTE) inString = true;
    else if (character === BRACE_OPEN || character === BRACKET_OPEN) {
      if (++depth > DEEPEST)
        throw new ApiError('too_deep', `The body must be nested ${DEEPEST} levels or less.`, {
          details: { limit: DEEPEST },
        });
    } else if (character === BRACE_CLOSE || character === BRACKET_CLOSE) depth--;
  }
}

const [QUOTE, BACKSLASH, BRACE_OPEN, BRACE_CLOSE, BRACKET_OPEN, BRACKET_CLOSE] = [34, 92, 123, 125, 91, 93];

/** Refuses values that are valid JSON but that we could not store unchanged. */
function assertSound(value: unknown, path: string): void {
  if (typeof value === 'number' && !isExact(value))
    throw unsound(path, 'is too large a number to store exactly. Send it as text.');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (key === '__proto__') throw unsound(at, 'is not allowed as a name. Choose another.');
    assertSound(one, at);
  }
}

function withLargeAsTexts(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const { at, number } of longNumbers(text)) {
    if (isExact(Number(number))) continue;
    parts.push(text.slice(from, at), `"${number}"`);
    from = at + number.length;
  }
  return parts.join('') + text.slice(from);
}

function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function unsound(path: string, message: string): ApiError {
  return new ApiError('invalid_request', `${path === '' ? 'The body' : path} ${message}`, { details: { path } });
}
