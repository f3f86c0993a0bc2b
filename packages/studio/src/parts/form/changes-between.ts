type Config = Readonly<Record<string, unknown>>;

/** The fields that differ, in the form that `PATCH` takes: null removes one. */
export function changesBetween(before: Config, after: Config): Config {
  const names = fieldsThatDiffer(before, after);
  return Object.fromEntries(names.map((name) => [name, after[name] ?? null]));
}

/** The form's fields in their order, then all others. */
export function fieldsThatDiffer(before: Config, after: Config): readonly string[] {
  const names = [...new Set([...ORDER, ...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => asText(before[name]) !== asText(after[name]));
}

const ORDER = ['name', 'description', 'definition', 'instructions', 'model', 'replies', 'tools', 'limits'] as const;

/** A field as text to compare: a text as it is, everything else as JSON with sorted keys. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, sortKeys, 2);
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
