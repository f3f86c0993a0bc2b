import { expect, test } from 'vitest';
import { idleStretches, timeScale } from '../../src/parts/run/timeline/time-scale.ts';

test('[S5] an interval of more than ten seconds without activity is idle; a long call is not', () => {
  const spans = [
    { from: 0, to: 100 },
    { from: 50, to: 30_000 },
    { from: 60, to: 70 },
    { from: 39_000, to: 39_010 },
    { from: 60_000, to: 60_100 },
  ];
  expect(idleStretches(spans)).toEqual([{ from: 39_010, to: 60_000 }]);
});

test('[S5] folded, an idle interval takes little room, shows its length, and keeps the order of time', () => {
  const spans = [
    { from: 1_000, to: 1_100 },
    { from: 61_100, to: 61_200 },
  ];
  const scale = timeScale(spans);
  expect(scale.breaks).toHaveLength(1);
  expect(scale.breaks[0]?.lengthMs).toBe(60_000);
  const positions = [1_000, 1_100, 30_000, 61_100, 61_200].map((at) => scale.position(at));
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  expect(positions[0]).toBe(0);
  expect(positions[1]).toBeCloseTo(0.47);
  expect(positions[3]).toBeCloseTo(0.53);
  expect(positions[4]).toBeCloseTo(1);
});

test('[S5] unfolded, positions are proportional to time', () => {
  const scale = timeScale(
    [
      { from: 0, to: 10 },
      { from: 99_990, to: 100_000 },
    ],
    { isFolded: false },
  );
  expect(scale.breaks).toEqual([]);
  expect(scale.position(50_000)).toBeCloseTo(0.5);
});

test('a scale without events, and one with a single moment, have positions from 0 to 1', () => {
  for (const spans of [[], [{ from: 5, to: 5 }]]) {
    const at = timeScale(spans).position(5);
    expect(at).toBeGreaterThanOrEqual(0);
    expect(at).toBeLessThanOrEqual(1);
  }
});

test('with any number of idle intervals, the activity has half of the room', () => {
  const spans = Array.from({ length: 100 }, (_, index) => ({ from: index * 100_000, to: index * 100_000 + 1_000 }));
  const scale = timeScale(spans);
  const broken = scale.breaks.reduce((sum, { from, to }) => sum + to - from, 0);
  expect(broken).toBeLessThan(0.51);
  expect(scale.position(spans.at(-1)?.to ?? 0)).toBeCloseTo(1);
});
