import type { ReactElement, ReactNode } from 'react';

/** A scrolling region must be reachable by keyboard, and have a name. */
export function ScrollRegion({ label, children }: { label: string; children: ReactNode }): ReactElement {
  return (
    <section tabIndex={0} aria-label={label} className="max-h-96 overflow-auto rounded bg-raised p-2">
      {children}
    </section>
  );
}
