import type { ReactElement } from 'react';

/** The mark of Lastcall: an L whose end is one full stop. */
export function Mark({ size = 24 }: { size?: number }): ReactElement {
  return (
    <svg aria-hidden width={size} height={size} viewBox="0 0 32 32" className="shrink-0">
      <rect width="32" height="32" rx="8" className="fill-text" />
      <path
        d="M10.5 8v15h5.5"
        fill="none"
        strokeWidth="3.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        className="stroke-surface"
      />
      <circle cx="22" cy="23" r="2.75" className="fill-surface" />
    </svg>
  );
}
