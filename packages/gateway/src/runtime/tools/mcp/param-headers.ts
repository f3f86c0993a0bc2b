/**
 * Why the `x-mcp-header` declarations of a tool's input make it unusable, by the 2026 specification: arguments that a
 * client also sends as headers must be plain values, reached only through `properties`, each with a different header
 * name. Undefined if they can be used.
 */
export function paramHeaderProblem(inputSchema: unknown): string | undefined {
  const seen = new Set<string>();
  const check = (node: unknown, isReachable: boolean): boolean => {
    if (typeof node !== 'object' || node === null) return true;
    const isFine = !(HEADER in node) || (isReachable && isHeader(node as Declared, seen));
    return isFine && Object.entries(node).every(([key, value]) => checkBelow(key, value, isReachable));
  };
  const checkBelow = (key: string, value: unknown, isReachable: boolean): boolean => {
    if (key === 'properties') return Object.values(value ?? {}).every((property) => check(property, isReachable));
    if (LISTS.has(key)) return Object.values(value ?? {}).every((branch) => check(branch, false));
    return !SCHEMAS.has(key) || check(value, false);
  };
  const isRootFine = !(HEADER in ((inputSchema ?? {}) as object));
  return isRootFine && check(inputSchema, true) ? undefined : `its ${HEADER} declarations cannot be used`;
}

const HEADER = 'x-mcp-header';
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', '$defs', 'definitions', 'dependentSchemas']);
const SCHEMAS = new Set([
  ...['items', 'contains', 'additionalProperties', 'patternProperties', 'propertyNames', 'not', 'if', 'then', 'else'],
  ...['unevaluatedItems', 'unevaluatedProperties'],
]);

interface Declared {
  readonly [HEADER]?: unknown;
  readonly type?: unknown;
}

function isHeader({ [HEADER]: name, type }: Declared, seen: Set<string>): boolean {
  const isName = typeof name === 'string' && /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name);
  if (!isName || !['string', 'integer', 'boolean'].includes(String(type)) || seen.has(name.toLowerCase())) return false;
  seen.add(name.toLowerCase());
  return true;
}
