import { type ReactElement, useSyncExternalStore } from 'react';

/** A point in time: the hour if it is today, else also the day, and the year if it is another one. The full time on hover. */
export function Time({ at }: { at: number }): ReactElement {
  const date = new Date(at);
  return (
    <time
      dateTime={date.toISOString()}
      title={date.toLocaleString()}
      className="shrink-0 text-xs whitespace-nowrap text-quiet tabular-nums"
    >
      {isToday(date) ? clockTime.format(date) : dayTime(at)}
    </time>
  );
}

/** "42 ms", "10.6 s", "3 min", "2 h", "5 d". */
export function duration(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  if (Math.round(ms / 100) < 100) return `${(ms / 1_000).toFixed(1)} s`;
  if (Math.round(ms / 1_000) < 60) return `${Math.round(ms / 1_000)} s`;
  if (ms < 60_000) return '1 min';
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 48 * 3_600_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000)} d`;
}

/**
 * The current time, in milliseconds, at most `everyMs` old. All components that show a time share one timer per period.
 */
export function useNow(everyMs: 1_000 | 60_000 = 1_000): number {
  const ticks = TICKS[everyMs];
  return useSyncExternalStore(ticks.subscribe, ticks.now);
}

function ticksEvery(ms: number): { subscribe(listener: () => void): () => void; now(): number } {
  const listeners = new Set<() => void>();
  let now = Date.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = (): void => {
    now = Date.now();
    for (const listener of listeners) listener();
  };
  return {
    subscribe(listener) {
      listeners.add(listener);
      if (timer === undefined) {
        now = Date.now();
        timer = setInterval(tick, ms);
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    now: () => now,
  };
}

const TICKS = { 1000: ticksEvery(1_000), 60000: ticksEvery(60_000) } as const;

const clockTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
/** The day and the time, e.g. "Nov 19, 04:42 PM". */
export function dayTime(at: number): string {
  const date = new Date(at);
  return date.toLocaleString(undefined, {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...yearOf(date),
  });
}

/** A year is shown if it is not this one: the same day of another year would look like that of this year. */
export function yearOf(date: Date): Pick<Intl.DateTimeFormatOptions, 'year'> {
  return date.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' };
}

function isToday(date: Date): boolean {
  return date.toDateString() === new Date().toDateString();
}
