import type { StoryWait } from '@lastcall/client';
import type { CallStatus, LostAttempt } from '@lastcall/client/timeline';
import type { CSSProperties, ReactElement } from 'react';
import { duration } from '../../ui/time.tsx';
import type { Span, TimeScale } from './time-scale.ts';

interface TimeBarProps {
  readonly scale: TimeScale;
  readonly from: number | undefined;
  /** Undefined if it is still going on. */
  readonly to: number | undefined;
  readonly look: 'model' | CallStatus;
  /** Attempts before it that were lost with their worker. */
  readonly lost?: readonly LostAttempt[];
}

/** Draws when something happened. The row says the same in words, so screen readers skip it. */
export function TimeBar({ scale, from, to, look, lost = [] }: TimeBarProps): ReactElement {
  const form = from === undefined ? undefined : FORMS[look];
  return (
    <span aria-hidden className="relative block h-full min-h-2 w-full">
      {scale.breaks.map((one) => (
        <span
          key={one.from}
          className="absolute inset-y-0 border-x border-dashed border-line bg-raised"
          style={{ left: share(one.from), width: share(one.to - one.from) }}
        />
      ))}
      {lost.map((attempt) => (
        <span key={attempt.startedAt} data-lost-attempt>
          <span
            className="absolute top-1/2 h-1.5 min-w-[3px] -translate-y-1/2 rounded-l-[2px] border border-dashed border-bad wide:h-3"
            style={placeOf(scale, attempt.startedAt, attempt.lostAt)}
          />
          {/* Where the worker was found dead. */}
          <span
            className="absolute top-1/2 -translate-1/2 text-xs leading-none font-bold text-bad"
            style={{ left: share(scale.position(attempt.lostAt)) }}
          >
            ×
          </span>
        </span>
      ))}
      {form !== undefined && from !== undefined && (
        <span className={`absolute top-1/2 min-w-[3px] -translate-y-1/2 ${form}`} style={placeOf(scale, from, to)} />
      )}
    </span>
  );
}

/** Model time is thin, tool time thick. Calls that never ran have no bar. */
const FORMS: Readonly<Record<TimeBarProps['look'], string | undefined>> = {
  model: 'h-[3px] rounded-full bg-quiet',
  ok: 'h-1.5 wide:h-3 rounded-[2px] bg-ok',
  error: 'notched h-1.5 wide:h-3 rounded-[2px] bg-bad',
  unknown: 'h-1.5 wide:h-3 rounded-[2px] border border-dashed border-doubt',
  waiting: 'hatched h-1.5 wide:h-3 rounded-l-[2px]',
  denied: undefined,
  expired: 'hatched h-1.5 wide:h-3 rounded-[2px]',
  cancelled: undefined,
  skipped: undefined,
  planned: undefined,
  running: 'h-1.5 wide:h-3 rounded-l-[2px] bg-accent opacity-70',
};

function placeOf(scale: TimeScale, from: number, to: number | undefined): CSSProperties {
  const start = scale.position(from);
  const end = to === undefined ? 1 : scale.position(to);
  return { left: `min(${share(start)}, 100% - 3px)`, width: share(Math.max(0, end - start)) };
}

/** Above the bars: the start, the folded idle periods, and the duration. */
export function TimeAxis({ scale, waits }: { scale: TimeScale; waits: readonly StoryWait[] }): ReactElement {
  return (
    <div className="sticky top-0 z-10 hidden border-b border-line bg-surface px-4 wide:px-6 text-xs text-quiet tabular-nums wide:grid wide:grid-cols-[minmax(0,1fr)_minmax(0,36%)] wide:gap-x-2">
      <span />
      <span className="relative block h-6 leading-6">
        <span className="absolute left-0">0</span>
        {scale.breaks.map((one) => (
          <span
            key={one.from}
            className="absolute -translate-x-1/2 rounded bg-raised px-1 whitespace-nowrap"
            style={{ left: `clamp(3rem, ${share((one.from + one.to) / 2)}, 100% - 6rem)` }}
          >
            {duration(one.lengthMs)} {waits.some((wait) => covers(wait, one.span)) ? 'waiting' : 'idle'}
          </span>
        ))}
        <span className="absolute right-0 bg-surface pl-1">{duration(scale.span.to - scale.span.from)}</span>
      </span>
    </div>
  );
}

/** True if the task waited for people for most of the time. */
function covers({ since, until = Number.POSITIVE_INFINITY }: StoryWait, { from, to }: Span): boolean {
  return Math.min(until, to) - Math.max(since, from) > (to - from) / 2;
}

function share(part: number): string {
  return `${(part * 100).toFixed(3)}%`;
}
