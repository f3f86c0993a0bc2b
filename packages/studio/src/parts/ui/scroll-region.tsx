import type { ReactElement, ReactNode } from 'react';

interface ScrollRegionProps {
  readonly label: string;
  /** As high as its content: it scrolls only to the side. */
  readonly isWhole?: boolean;
  readonly children: ReactNode;
}

/** A scrolling region must be reachable by keyboard, and have a name. */
export function ScrollRegion({ label, isWhole = false, children }: ScrollRegionProps): ReactElement {
  return (
    <section
      tabIndex={0}
      aria-label={label}
      className={`overflow-auto rounded ${isWhole ? '' : 'max-h-96 bg-raised p-2'}`}
    >
      {children}
    </section>
  );
}
