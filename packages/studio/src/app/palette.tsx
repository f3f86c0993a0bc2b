import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

const OPEN = 'lastcall:open-palette';

export function openPalette(): void {
  document.dispatchEvent(new Event(OPEN));
}

/** Its content is loaded when the user opens it for the first time. */
const PaletteDialog = lazy(async () => ({ default: (await import('./palette-dialog.tsx')).PaletteDialog }));

/** Searches pages, spaces, agents, runs and tools, and runs commands. */
export function Palette(): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    // It opens synchronously: the letters typed after the key are already meant for its field.
    const open = (): void => flushSync(() => setOpen(true));
    document.addEventListener(OPEN, open);
    return () => document.removeEventListener(OPEN, open);
  }, []);
  if (!isOpen) return null;
  return (
    <Suspense>
      <PaletteDialog onClose={() => setOpen(false)} />
    </Suspense>
  );
}
