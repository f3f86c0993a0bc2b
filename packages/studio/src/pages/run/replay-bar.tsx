import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, X } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import type { RunState } from '../../parts/run/timeline/run-state.ts';
import { Button } from '../../parts/ui/button.tsx';
import { duration } from '../../parts/ui/time.tsx';
import { type Moment, momentInWords } from './moments.ts';

interface ReplayBarProps {
  readonly state: RunState;
  readonly moments: readonly Moment[];
  /** Counted from 1. */
  readonly number: number;
  readonly startedAt: number;
}

/** Steps through a run, moment by moment: buttons, arrow keys, a slider. */
export function ReplayBar({ state, moments, number, startedAt }: ReplayBarProps): ReactElement {
  const last = moments.length;
  const go = (to: number): void => state.set({ moment: Math.min(last, Math.max(1, to)) }, { replace: true });
  useKeys({
    ArrowLeft: { label: 'The moment before', run: () => go(number - 1) },
    ArrowRight: { label: 'The next moment', run: () => go(number + 1) },
    Home: { label: 'The first moment', run: () => go(1) },
    End: { label: 'The last moment', run: () => go(last) },
  });
  const moment = moments[number - 1];
  const words =
    moment === undefined
      ? ''
      : `${momentInWords(moment)}, ${duration(Math.max(0, moment.at - startedAt))} after the start`;
  return (
    <section
      aria-label="Replay"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-raised px-4 wide:px-6 py-2"
    >
      <span className="flex">
        <Step
          label="First moment"
          isOff={number <= 1}
          onClick={() => go(1)}
          icon={<ChevronFirst size={16} aria-hidden />}
        />
        <Step
          label="Moment before"
          isOff={number <= 1}
          onClick={() => go(number - 1)}
          icon={<ChevronLeft size={16} aria-hidden />}
        />
        <Step
          label="Next moment"
          isOff={number >= last}
          onClick={() => go(number + 1)}
          icon={<ChevronRight size={16} aria-hidden />}
        />
        <Step
          label="Last moment"
          isOff={number >= last}
          onClick={() => go(last)}
          icon={<ChevronLast size={16} aria-hidden />}
        />
      </span>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={`${number} of ${last}: ${words}`}
        min={1}
        max={last}
        value={number}
        onChange={({ target }) => go(Number(target.value))}
        className="min-w-32 flex-1 accent-text"
      />
      <span role="status" className="basis-full text-sm wide:basis-80">
        <span className="tabular-nums">
          {number} of {last}
        </span>
        : {words}
      </span>
      <Button kind="ghost" onClick={() => state.set({ moment: undefined })}>
        <X size={16} aria-hidden /> End the replay
      </Button>
    </section>
  );
}

function Step({
  label,
  isOff,
  onClick,
  icon,
}: {
  label: string;
  isOff: boolean;
  onClick: () => void;
  icon: ReactNode;
}): ReactElement {
  return (
    <Button kind="ghost" aria-label={label} className="px-2" disabled={isOff} onClick={onClick}>
      {icon}
    </Button>
  );
}
