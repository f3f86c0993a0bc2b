export type Scope = 'admin' | 'write' | 'read';

export const SCOPES: readonly { readonly scope: Scope; readonly means: string }[] = [
  { scope: 'admin', means: 'everything, keys, sessions and tools too' },
  { scope: 'write', means: 'agents, spaces, messages and answers' },
  { scope: 'read', means: 'see everything except keys, and change nothing' },
];

/** What a user with these scopes may do. */
export function scopesInWords(scopes: readonly Scope[]): string {
  const highest = SCOPES.find(({ scope }) => scopes.includes(scope));
  if (highest === undefined)
    return 'the person’s rights: read and write in their spaces, and answer their waiting calls';
  return `${highest.scope}: ${highest.means}`;
}
