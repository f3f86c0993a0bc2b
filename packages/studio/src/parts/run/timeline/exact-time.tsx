import type { ReactElement } from 'react';

/** A point in time to the second; today's without the date. */
export function ExactTime({ at }: { at: number }): ReactElement {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={date.toISOString()} title={whole.format(at)} className="tabular-nums">
      {(isToday ? clock : whole).format(at)}
    </time>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
