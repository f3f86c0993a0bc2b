export type Scope = 'admin' | 'write' | 'read';

export const SCOPES: readonly { readonly scope: Scope; readonly means: string }[] = [
  { scope: 'admin', means: 'everything, keys, sessions and tools too' },
  { scope: 'write', means: 'agents, spaces, messages and answers' },
  { scope: 'read', means: 'look at everything but keys, and change nothing' },
];

/** What somebody with these scopes may do. */
export function scopesInWords(scopes: readonly Scope[]): string {
  const highest = SCOPES.find(({ scope }) => scopes.includes(scope));
  if (highest === undefined)
    return 'what the person may: read and write in their spaces, and answer what waits for them';
  return `${highest.scope}: ${highest.means}`;
}
