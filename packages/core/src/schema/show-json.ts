const LONGEST_SHOWN = 80;

/** A value as JSON, short enough for a message. Only the shown part is serialized. */
export function showJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return cut(write(value, 0));
  const known = shown.get(value) ?? cut(write(value, LONGEST_SHOWN + 1));
  shown.set(value, known);
  return known;
}

// The schemas and constants of a schema are shown again and again.
const shown = new WeakMap<object, string>();

function cut(text: string): string {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`;
}

/** At least the first `longest` characters, and not much more. */
function write(value: unknown, longest: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, LONGEST_SHOWN + 1));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? typeof value;
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const key of Object.keys(value)) {
    if (text.length > longest) return text;
    const name = isList ? '' : `${write(key, 0)}:`;
    text += (text.length === 1 ? '' : ',') + name + write(value[key as keyof typeof value], longest - text.length);
  }
  return text + (isList ? ']' : '}');
}
