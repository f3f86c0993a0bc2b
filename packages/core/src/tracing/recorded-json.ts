/** Removes secrets from a text. */
export type RedactText = (text: string) => string;

/**
 * A value as the JSON that a span records. Secrets are removed from each text by itself: in the JSON as a whole, a pattern would match across
 * quotation marks, and what is left would be no JSON. Of a file, the media type is recorded, and not the content. A value that JSON cannot
 * hold is recorded by its kind.
 */
export function toRecordedJson(value: unknown, redact: RedactText): string {
  try {
    return JSON.stringify(value, (_name, one: unknown) => toRecorded(one, redact)) ?? 'null';
  } catch {
    return `[${typeof value}]`;
  }
}

function toRecorded(value: unknown, redact: RedactText): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') return toRecordedNumber(value, redact);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value).filter(([name]) => name !== 'data' || !('mediaType' in value));
  return Object.fromEntries(fields.map(([name, field]) => [redact(name), field]));
}

/** A secret may be made of digits. */
function toRecordedNumber(value: number, redact: RedactText): unknown {
  const text = String(value);
  const safe = redact(text);
  return safe === text ? value : safe;
}
