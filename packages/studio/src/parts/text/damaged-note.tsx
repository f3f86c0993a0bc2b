import type { Page } from '@lastcall/client';
import type { ReactElement } from 'react';
import { SafeText } from './safe-text.tsx';

/** Names the rows that a list leaves out because they are damaged in the database: otherwise they would just be missing. */
export function DamagedNote({ pages }: { pages: readonly Pick<Page<unknown>, 'damaged'>[] }): ReactElement | null {
  const damaged = pages.flatMap((page) => page.damaged ?? []);
  if (damaged.length === 0) return null;
  return (
    <div role="status" className="flex flex-col gap-1 text-sm text-bad">
      {damaged.map(({ id, problem }) => (
        <SafeText key={id} text={problem} />
      ))}
    </div>
  );
}
