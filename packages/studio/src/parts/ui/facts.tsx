import type { ReactElement, ReactNode } from 'react';

/** Names and their values, in two columns. */
export function Facts({ children }: { children: ReactNode }): ReactElement {
  return (
    <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3 gap-y-2 wide:grid-cols-[10rem_minmax(0,1fr)]">
      {children}
    </dl>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }): ReactElement {
  return (
    <div className="contents">
      <dt className="text-quiet">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
