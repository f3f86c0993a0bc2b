/**
 * The value with no half of a surrogate pair in its texts: a tool that cuts a text leaves one, and providers refuse a request that has it, so
 * that no later request of the conversation would be accepted. The same object if it has none. What a provider said about a part is left alone.
 */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return (value.isWellFormed() ? value : value.toWellFormed()) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return wellFormedItems(value) as T;
  return Object.getPrototypeOf(value) === Object.prototype ? (wellFormedFields(value as Fields) as T) : value;
}

type Fields = Readonly<Record<string, unknown>>;

function wellFormedItems(items: readonly unknown[]): readonly unknown[] {
  const fixed = items.map(wellFormed);
  return fixed.some((item, index) => item !== items[index]) ? fixed : items;
}

function wellFormedFields(fields: Fields): Fields {
  let fixed: [string, unknown][] | undefined;
  for (const [key, field] of Object.entries(fields)) {
    if (key === 'providerOptions') continue;
    const [name, value] = [wellFormed(key), wellFormed(field)];
    if (name === key && value === field) continue;
    fixed ??= Object.entries(fields);
    fixed[fixed.findIndex(([one]) => one === key)] = [name, value];
  }
  return fixed === undefined ? fields : Object.fromEntries(fixed);
}
