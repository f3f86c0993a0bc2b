import { z } from 'zod';
import { ApiError } from '../../domain/api-error.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import { idField } from './fields.ts';
import { validate } from './validate.ts';

/** A file as a client sent it: as the whole body, or in a form with fields beside it. */
interface SentFile {
  readonly bytes: Uint8Array;
  /** The type that the client says it has. */
  readonly mediaType: string;
  readonly name?: string | undefined;
  readonly entityId?: string | undefined;
}

/** The fields of an upload. They can be in the query, and in a form beside the file. */
export const fileFields: { name: z.ZodOptional<z.ZodString>; entityId: z.ZodOptional<z.ZodType<string>> } = {
  name: z.string().max(1_000).meta({ description: 'The name of the file. Default: its id.' }).optional(),
  entityId: idField.meta({ description: 'Who uploads it. Required with a secret key.' }).optional(),
};

/** Reads the body of an upload: `multipart/form-data`, as `curl -F` and pages send it, or else the file itself. */
export async function readSentFile(bytes: Uint8Array, headers: Headers): Promise<SentFile> {
  const contentType = headers.get('content-type') ?? '';
  const mediaType = plainType(contentType);
  return mediaType === 'multipart/form-data' ? await readForm(bytes, contentType) : { bytes, mediaType };
}

async function readForm(bytes: Uint8Array, contentType: string): Promise<SentFile> {
  const boundary = boundaryOf(contentType);
  assertShortHeads(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), boundary);
  const parts = [...(await parseForm(bytes, boundary))];
  const files = parts.flatMap(([, value]) => (typeof value === 'string' ? [] : [value]));
  const [file] = files;
  if (file === undefined || files.length > 1)
    throw invalid('body', `must have exactly one file, not ${files.length}. Send each file in a separate request.`);
  const fields = validate(z.strictObject(fileFields), textsOf(parts));
  return {
    ...fields,
    bytes: new Uint8Array(await file.arrayBuffer()),
    mediaType: plainType(file.type),
    name: fields.name ?? file.name,
  };
}

/** No character of a boundary is escaped in quotation marks (RFC 2046). */
const BOUNDARY = /^[\w'()+,./:=? -]{1,70}$/;

function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined || !BOUNDARY.test(boundary)) throw notAForm();
  return boundary;
}

/**
 * The parser gets the boundary that the parts were counted with. From the header of the client, it might read another one: in
 * `boundary="\x"` the backslash escapes, and `a="; boundary=x"; boundary=y` names one inside a text.
 */
async function parseForm(bytes: Uint8Array, boundary: string): Promise<FormData> {
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  const body = new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
  return await body.formData().catch((cause: unknown) => {
    throw notAForm(cause);
  });
}

/** A field that is given twice is refused, because it is unclear which value is meant. */
function textsOf(parts: readonly (readonly [string, unknown])[]): Readonly<Record<string, string>> {
  const texts = new Map<string, string>();
  for (const [name, value] of parts) {
    if (typeof value !== 'string') continue;
    if (texts.has(name)) throw invalid(name.slice(0, 100), 'is given twice.');
    texts.set(name, value);
  }
  return Object.fromEntries(texts);
}

/** The parser takes seconds for many thousand parts or headers, and all other requests wait meanwhile. */
function assertShortHeads(bytes: Buffer, boundary: string): void {
  const next = `\r\n--${boundary}`;
  let parts = 0;
  for (let at = 0; at !== -1; at = bytes.indexOf(next, at + 1)) {
    const head = bytes.subarray(at + next.length, at + next.length + LONGEST_HEAD);
    const isEnd = at > 0 && head.subarray(0, 2).toString('latin1') === '--';
    if (isEnd) return;
    parts += 1;
    if (parts > MOST_PARTS || !head.includes('\r\n\r\n')) throw notAForm();
  }
}

/** A file and two fields. The rest is for fields that are refused by their name. */
const MOST_PARTS = 20;
const LONGEST_HEAD = 10_000;

function plainType(contentType: string): string {
  return contentType.split(';')[0]?.trim().toLowerCase() ?? '';
}

function notAForm(cause?: unknown): ApiError {
  const message = 'The body must be multipart/form-data with one file, and at most the fields name and entityId.';
  return new ApiError('invalid_request', message, { details: { path: 'body' }, cause });
}
