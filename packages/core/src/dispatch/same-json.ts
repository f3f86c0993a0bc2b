/** Whether two values say the same as JSON. A store may have put the fields in another order. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  try {
    return JSON.stringify(one, sortFields) === JSON.stringify(other, sortFields);
  } catch {
    // What JSON cannot hold can only be the same by being the same.
    return false;
  }
}

function sortFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
