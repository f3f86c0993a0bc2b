/**
 * The value with no half of a surrogate pair in its texts: a tool that cuts a text leaves one, and providers refuse a request that has it, so
 * that no later request of the conversation would be accepted. The same object if it has none. What a provider said about a part is left alone.
 */
export function wellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (replaceHalves(value) as T);
}

type Fields = Readonly<Record<string, unknown>>;

// Every message passes here, so this makes no arrays of fields.
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (!isPlain(value)) return true;
  for (const key in value)
    if (key !== 'providerOptions' && !(key.isWellFormed() && isWellFormed(value[key]))) return false;
  return true;
}

function replaceHalves(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  const fields = Object.entries(value).map(([key, field]) =>
    key === 'providerOptions' ? [key, field] : [key.toWellFormed(), wellFormed(field)],
  );
  return Object.fromEntries(fields);
}

function isPlain(value: object): value is Fields {
  return Object.getPrototypeOf(value) === Object.prototype;
}
