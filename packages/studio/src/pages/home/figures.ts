import type { HomeDay } from '@lastcall/client';
import { duration } from '../../parts/ui/time.tsx';
import { moneyInWords } from '../../parts/usage/amounts.ts';

/** One figure of the last days: how it is read from a day, and said. */
export interface Figure {
  readonly title: string;
  /** Undefined if the day has none. */
  readonly of: (day: HomeDay) => number | undefined;
  readonly inWords: (value: number, day: HomeDay) => string;
}

const RUNS: Figure = {
  title: 'Runs',
  of: ({ runs }) => runs,
  inWords: (value, { sampled }) => `${value.toLocaleString()}${sampled === true ? ' or more' : ''}`,
};

const LATENCY: Figure = {
  title: 'Time of a run',
  of: ({ medianMs }) => medianMs,
  inWords: (value) => duration(value),
};

const SLOW: Figure = { title: 'Slowest 5 %', of: ({ p95Ms }) => p95Ms, inWords: (value) => duration(value) };

const COST: Figure = {
  title: 'Cost',
  of: ({ cost }) => cost ?? undefined,
  inWords: (cost, { currency = '' }) => moneyInWords({ cost, currency, estimated: false }),
};

const TOKENS: Figure = { title: 'Tokens', of: ({ tokens }) => tokens, inWords: (value) => value.toLocaleString() };

/** Cost where prices are configured, else tokens. */
export function figuresOf(days: readonly HomeDay[]): readonly Figure[] {
  const hasCost = days.some(({ cost, requests }) => requests > 0 && cost !== null && cost > 0);
  return [RUNS, LATENCY, SLOW, hasCost ? COST : TOKENS];
}

/** The middle value of the days before today on which there was something. Undefined if there was nothing. */
export function usualOf({ of }: Figure, [, ...before]: readonly HomeDay[]): number | undefined {
  const values = before.flatMap((day) => (day.runs === 0 && day.requests === 0 ? [] : (of(day) ?? [])));
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
