/** Bytes as base64 text. What is text is base64 already. The standard has `btoa` for characters only, and core has no `Buffer`. */
export function toBase64(data: Uint8Array | string): string {
  if (typeof data === 'string') return data;
  let characters = '';
  for (const byte of data) characters += String.fromCharCode(byte);
  return btoa(characters);
}
