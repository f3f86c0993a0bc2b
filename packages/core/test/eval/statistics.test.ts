import { describe, expect, test } from 'vitest';
import { difference, estimate } from '../../src/eval/index.ts';

describe('[E9] statistics, against known values', () => {
  test.each([
    // Wilson (1927), without continuity correction.
    [8, 10, 0.4901625, 0.9433178],
    [10, 10, 0.7224672, 1],
    [0, 10, 0, 0.2775328],
    [1, 1, 0.2065493, 1],
    [81, 263, 0.2553, 0.3662],
  ])('[E9] %i of %i right', (right, n, low, high) => {
    const values = Array.from({ length: n }, (_, at) => (at < right ? 1 : 0));
    const found = estimate(values);
    expect(found.mean).toBeCloseTo(right / n, 10);
    expect(found.low).toBeCloseTo(low, 4);
    expect(found.high).toBeCloseTo(high, 4);
  });

  test("[E9] Student's interval: the sleep data of 1908, group 2", () => {
    // R: t.test(extra, data = subset(sleep, group == 2))$conf.int
    const hours = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    const { mean, low, high } = estimate(hours);
    expect(mean).toBeCloseTo(2.33, 10);
    expect(low).toBeCloseTo(0.8976775, 6);
    expect(high).toBeCloseTo(3.7623225, 6);
  });

  test("[E9] Student's paired test: the sleep data of 1908", () => {
    // R: t.test(x, y, paired = TRUE): t = 4.0621, df = 9, p-value = 0.002833
    const [before, after] = [
      [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2],
      [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
    ];
    const found = difference(before.map((value, at) => [value, after[at] as number]));
    expect(found.mean).toBeCloseTo(1.58, 10);
    expect(found.p).toBeCloseTo(0.00283289, 7);
    expect(found.verdict).toBe('better');
  });

  test('[E9] the exact test of McNemar: 9 cases got better, 1 worse', () => {
    const pairs = [
      ...Array.from({ length: 9 }, () => [0, 1] as const),
      [1, 0] as const,
      ...Array.from({ length: 20 }, () => [1, 1] as const),
    ];
    // R: binom.test(1, 10)$p.value
    expect(difference(pairs).p).toBeCloseTo(0.02148437, 7);
    expect(difference(pairs)).toMatchObject({ verdict: 'better', n: 30 });
  });
});

test('[E9] with few cases a difference may be chance, and the interval is wide', () => {
  expect(
    difference([
      [0, 1],
      [0, 1],
      [1, 1],
    ]),
  ).toMatchObject({ p: 0.5, verdict: 'may be chance' });
  expect(difference([[1, 0]])).toMatchObject({ p: 1, verdict: 'may be chance' });
  expect(
    difference([
      [1, 1],
      [0, 0],
    ]),
  ).toMatchObject({ verdict: 'same', p: 1 });
  expect(difference([])).toMatchObject({ verdict: 'same', n: 0 });
  const { low, high } = estimate([0.8, 0.8, 0.8]);
  expect(high - low).toBeGreaterThan(0.5);
});

test('[E9] six cases that all got worse are not chance', () => {
  expect(difference(Array.from({ length: 6 }, () => [1, 0.5] as const))).toMatchObject({
    verdict: 'worse',
    p: 0.03125,
  });
});

test('[E9] thousands of cases that changed are compared too', () => {
  const changed = (up: number, down: number) => [
    ...Array.from({ length: up }, () => [0, 1] as const),
    ...Array.from({ length: down }, () => [1, 0] as const),
  ];
  expect(difference(changed(1_010, 990))).toMatchObject({ verdict: 'may be chance' });
  expect(difference(changed(1_060, 940))).toMatchObject({ verdict: 'better' });
  // R: binom.test(1060, 2000)$p.value is 0.007745; the normal curve is close to it.
  expect(difference(changed(1_060, 940)).p).toBeCloseTo(0.00778, 4);
});

test('values that are not shares keep their range', () => {
  const { low, high } = estimate([2, 4, 6]);
  expect([low, high].map((one) => one.toFixed(3))).toEqual(['-0.968', '8.968']);
});
