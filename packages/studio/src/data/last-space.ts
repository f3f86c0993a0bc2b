const NAME = 'lastcall.last-space';

/** The space that was open last in this browser. */
export function lastSpace(): string | undefined {
  return localStorage.getItem(NAME) ?? undefined;
}

export function rememberSpace(id: string | undefined): void {
  if (id === undefined) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, id);
}
