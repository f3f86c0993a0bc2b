import type { ReactElement } from 'react';

interface ListHeadProps {
  readonly columns: readonly string[];
  /** The classes of the rows' grid, so that the words stand above their columns. */
  readonly grid: string;
}

/** The names of a list's columns. Rows say everything in words, so screen readers skip it; so does a narrow screen. */
export function ListHead({ columns, grid }: ListHeadProps): ReactElement {
  return (
    <div aria-hidden className={`hidden border-b border-line px-4 py-2 text-sm text-quiet wide:grid ${grid}`}>
      {columns.map((name) => (
        <span key={name} className="truncate last:text-right">
          {name}
        </span>
      ))}
    </div>
  );
}
