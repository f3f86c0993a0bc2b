import { withVisibleControls } from '@lastcall/client/react';
import { LoaderCircle } from 'lucide-react';
import type { ReactElement } from 'react';
import { progressOf } from './call-shape.ts';

/** The last progress that a call reported. `isMarked`: something beside it already says that the call runs. */
export function Progress({ value, isMarked = false }: { value: unknown; isMarked?: boolean }): ReactElement {
  const { part, words } = value === undefined ? { words: 'running', part: undefined } : progressOf(value);
  return (
    <p className="flex items-center gap-2 text-sm text-quiet">
      {!isMarked && <LoaderCircle size={16} aria-hidden className="shrink-0 text-accent motion-safe:animate-spin" />}
      {part !== undefined && <progress value={part} aria-label="Progress" className={BAR} />}
      <span className="min-w-0 truncate tabular-nums">{withVisibleControls(words)}</span>
    </p>
  );
}

const BAR =
  'h-1.5 w-32 appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent';
