/** Bytes that are longer are stored as a checksum. A screenshot would fill the file, and tells a reviewer nothing. */
const MOST_BYTES = 256;

/** A copy as JSON has it: URLs as texts, bytes as base64 or a checksum, fields that are undefined left out, names of fields in order. */
export function toPlainJson(value: unknown): unknown {
  if (value instanceof URL) return value.href;
  if (value instanceof Uint8Array) return bytesInWords(value);
  if (typeof value === 'string' && value.length > MOST_BYTES * 4 && isBase64(value)) return textInWords(value);
  if (Array.isArray(value)) return value.map(toPlainJson);
  if (typeof value !== 'object' || value === null) return value;
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return toPlainJson(toJSON.call(value));
  const fields = Object.entries(value).filter(([, one]) => one !== undefined && typeof one !== 'function');
  return Object.fromEntries(
    fields.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, one]) => [name, toPlainJson(one)]),
  );
}

function bytesInWords(bytes: Uint8Array): string {
  if (bytes.length > MOST_BYTES) return `{{${bytes.length} bytes, ${checksum(bytes)}}}`;
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function textInWords(text: string): string {
  return `{{${text.length} characters of base64, ${checksum(new TextEncoder().encode(text))}}}`;
}

/** Words have spaces or line breaks long before this length. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}

/** FNV-1a in 53 bits. It tells two files apart, and keeps nothing secret. */
function checksum(bytes: Uint8Array): string {
  let [high, low] = [0x811c9dc5, 0x1000193];
  for (const byte of bytes) {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ (low >>> 7) ^ byte, 0x01000193);
  }
  return (((high >>> 0) % 0x200000) * 0x1_0000_0000 + (low >>> 0)).toString(36);
}
