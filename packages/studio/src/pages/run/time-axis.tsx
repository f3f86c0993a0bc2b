import type { ReactElement } from 'react';
import { duration } from '../../parts/ui/time.tsx';
import { share } from './time-bar.tsx';
import type { TimeScale } from './time-scale.ts';

/** Above the bars: the start, the folded idle periods, and the duration. */
export function TimeAxis({ scale }: { scale: TimeScale }): ReactElement {
  return (
    <div className="sticky top-0 z-10 hidden border-b border-line bg-surface px-3 text-xs text-quiet tabular-nums wide:grid wide:grid-cols-[minmax(0,1fr)_minmax(0,36%)] wide:gap-x-2">
      <span />
      <span className="relative block h-6 leading-6">
        <span className="absolute left-0">0</span>
        {scale.breaks.map((one) => (
          <span
            key={one.from}
            className="absolute -translate-x-1/2 rounded bg-raised px-1 whitespace-nowrap"
            style={{ left: `clamp(3rem, ${share((one.from + one.to) / 2)}, 100% - 6rem)` }}
          >
            {duration(one.lengthMs)} idle
          </span>
        ))}
        <span className="absolute right-0 bg-surface pl-1">{duration(scale.span.to - scale.span.from)}</span>
      </span>
    </div>
  );
}
