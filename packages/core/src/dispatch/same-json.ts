/** Whether two values are the same as JSON. A store may have changed the order of the fields. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  try {
    return JSON.stringify(one, sortFields) === JSON.stringify(other, sortFields);
  } catch {
    // Values that JSON cannot hold are the same only if they are identical.
    return false;
  }
}

function sortFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
