import { invalid } from '../entities/invalid.ts';

/**
 * What a secret key may do. Each includes the ones after it.
 * - `admin`: everything, including keys.
 * - `write`: everything but keys.
 * - `read`: read everything but keys, and change nothing.
 */
export type Scope = 'admin' | 'write' | 'read';

export const SCOPES: readonly Scope[] = ['admin', 'write', 'read'];

export function hasScope(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.some((scope) => SCOPES.indexOf(scope) <= SCOPES.indexOf(needed));
}

export function checkScopes(scopes: readonly string[]): readonly Scope[] {
  const isScope = (scope: string): scope is Scope => (SCOPES as readonly string[]).includes(scope);
  if (scopes.length === 0 || !scopes.every(isScope))
    throw invalid('scopes', `must be one or more of ${SCOPES.join(', ')}.`);
  return [...new Set(scopes)];
}
