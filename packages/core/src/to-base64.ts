/**
 * Bytes as base64 text. Text is returned unchanged, because it is base64 already. `btoa` takes only characters, and
 * core has no `Buffer`.
 */
export function toBase64(data: Uint8Array | string): string {
  if (typeof data === 'string') return data;
  let text = '';
  for (let at = 0; at < data.length; at += CHUNK) text += btoa(charactersOf(data.subarray(at, at + CHUNK)));
  return text;
}

/**
 * A multiple of 3, so that each chunk but the last ends without padding. Without chunks, a file of 10 MB takes seconds, because a text of
 * so many parts has to be joined; chunks that are much longer could overflow the stack.
 */
const CHUNK = 8_190;

/** `apply` takes an array of bytes as it is. Spread would read it one byte at a time. */
function charactersOf(bytes: Uint8Array): string {
  return String.fromCharCode.apply(undefined, bytes as unknown as number[]);
}
