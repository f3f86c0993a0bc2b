const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** `items[2].price`; keys that are not identifiers as `["odd key"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.map((key, index) => formatKey(key, index === 0)).join('');
}

function formatKey(key: PropertyKey, isFirst: boolean): string {
  if (typeof key === 'number') return `[${key}]`;
  const text = String(key);
  if (!IDENTIFIER.test(text)) return `[${JSON.stringify(text)}]`;
  return isFirst ? text : `.${text}`;
}
