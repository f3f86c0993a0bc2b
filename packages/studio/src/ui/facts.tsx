import type { ReactElement, ReactNode } from 'react';

/** Names and what they are, in two columns. */
export function Facts({ children }: { children: ReactNode }): ReactElement {
  return <dl className="grid grid-cols-1 gap-x-6 gap-y-1 wide:grid-cols-[10rem_1fr] wide:gap-y-2">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }): ReactElement {
  return (
    <div className="contents">
      <dt className="text-quiet">{name}</dt>
      <dd className="mb-2 min-w-0 wide:mb-0">{children}</dd>
    </div>
  );
}
