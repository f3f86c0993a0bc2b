import type { HomeDay } from '@lastcall/client';
import type { ReactElement } from 'react';
import { type Figure, usualOf } from './figures.ts';

const HEIGHT = 48;
const WIDTH = 20;
const GAP = 4;

/** One figure of today beside the usual, and small bars of the last days, today on the right. Screen readers get a table. */
export function DayChart({ figure, days }: { figure: Figure; days: readonly HomeDay[] }): ReactElement | null {
  const [today] = days;
  if (today === undefined) return null;
  const value = figure.of(today);
  const usual = usualOf(figure, days);
  return (
    <figure aria-label={figure.title} className="relative flex min-w-0 flex-col gap-1">
      <figcaption className="text-sm text-quiet">{figure.title}</figcaption>
      <p className="text-2xl font-semibold">{value === undefined ? 'none' : figure.inWords(value, today)}</p>
      {usual !== undefined && <p className="text-xs text-quiet">usually {figure.inWords(usual, today)}</p>}
      <Bars figure={figure} days={days} />
      <table className="sr-only">
        <caption>{figure.title} by day</caption>
        <tbody>
          {days.map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              <td>{wordsOf(figure, day)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function Bars({ figure, days }: { figure: Figure; days: readonly HomeDay[] }): ReactElement {
  const most = Math.max(...days.map((day) => figure.of(day) ?? 0), Number.MIN_VALUE);
  const width = days.length * (WIDTH + GAP) - GAP;
  return (
    <svg aria-hidden viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} className="max-w-full">
      {days.toReversed().map((day, index) => {
        const height = Math.max(2, ((figure.of(day) ?? 0) / most) * HEIGHT);
        const isToday = index === days.length - 1;
        return (
          <g key={day.day}>
            <rect
              x={index * (WIDTH + GAP)}
              y={HEIGHT - height}
              width={WIDTH}
              height={height}
              rx={2}
              className={isToday ? 'fill-text' : 'fill-quiet opacity-40'}
            />
            {/* The whole height can be pointed at, also for a low bar. */}
            <rect x={index * (WIDTH + GAP)} y={0} width={WIDTH} height={HEIGHT} className="fill-transparent">
              <title>{`${day.day}: ${wordsOf(figure, day)}`}</title>
            </rect>
          </g>
        );
      })}
    </svg>
  );
}

function wordsOf(figure: Figure, day: HomeDay): string {
  const value = figure.of(day);
  return value === undefined ? 'none' : figure.inWords(value, day);
}
