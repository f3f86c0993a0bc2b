import type { ReactElement, ReactNode } from 'react';

/** Shown in an empty list: what would be here, and how to get it. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }): ReactElement {
  return (
    <div className="flex flex-col items-start gap-3 rounded-card border border-dashed border-line p-6">
      <p className="text-xl font-semibold">{title}</p>
      <div className="flex w-full min-w-0 max-w-prose flex-col gap-3 text-quiet">{children}</div>
    </div>
  );
}
