import { LoaderCircle } from 'lucide-react';
import type { ReactElement } from 'react';
import { withVisibleControls } from '../text/visible-text.ts';
import { progressOf } from './call-shape.ts';

/** How far a call is, as it told last. */
export function Progress({ value }: { value: unknown }): ReactElement {
  const { part, words } = value === undefined ? { words: 'running', part: undefined } : progressOf(value);
  return (
    <p className="flex items-center gap-2 text-sm text-quiet">
      <LoaderCircle size={16} aria-hidden className="shrink-0 text-accent motion-safe:animate-spin" />
      {part !== undefined && <progress value={part} aria-label="Progress" className="h-1.5 w-32 accent-accent" />}
      <span className="min-w-0 truncate tabular-nums">{withVisibleControls(words)}</span>
    </p>
  );
}
