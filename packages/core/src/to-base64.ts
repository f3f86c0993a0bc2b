/**
 * Bytes as base64 text. Text is returned unchanged, because it is base64 already. `btoa` takes only characters, and
 * core has no `Buffer`.
 */
export function toBase64(data: Uint8Array | string): string {
  if (typeof data === 'string') return data;
  let characters = '';
  for (const byte of data) characters += String.fromCharCode(byte);
  return btoa(characters);
}
