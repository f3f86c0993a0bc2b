import type { ReactElement } from 'react';

const OPEN = 'lastcall:open-palette';

export function openPalette(): void {
  document.dispatchEvent(new Event(OPEN));
}

/** Searches pages, spaces, agents, runs and tools. */
export function Palette(): ReactElement | null {
  return null;
}
