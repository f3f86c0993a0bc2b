import type { ReactElement, ReactNode } from 'react';

/** Links that choose what the page shows: the address is the state. Give it `<Link>`s with `tabClass`. */
export function Tabs({ label, children }: { label: string; children: ReactNode }): ReactElement {
  return (
    <nav aria-label={label} className="-mb-3 flex gap-1 overflow-x-auto">
      {children}
    </nav>
  );
}

/** The class of a link in `Tabs`. TanStack's `Link` sets `aria-current` on the active one. */
export const tabClass =
  'border-b-2 border-transparent px-2 py-2 whitespace-nowrap text-quiet hover:text-text aria-[current=page]:border-text aria-[current=page]:font-medium aria-[current=page]:text-text';
