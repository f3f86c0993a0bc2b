/** The middle of a sample, and the range in which the true value lies with a confidence of 95 %. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** The number of values. */
  readonly n: number;
}

const Z95 = 1.959963984540054;

/**
 * - Values that are all 0 or 1: Wilson's interval, which is right for few values too. Ten of ten gives 0.72 to 1.
 * - Other values: Student's interval.
 * - Values between 0 and 1 that are all the same: Wilson's interval around them. Student's would have no width, although three equal values
 *   prove little.
 */
export function estimate(values: readonly number[]): Estimate {
  const n = values.length;
  if (n === 0) return { mean: Number.NaN, low: Number.NaN, high: Number.NaN, n };
  const mean = meanOf(values);
  const isShare = values.every((value) => value >= 0 && value <= 1);
  const spread = deviation(values, mean);
  const isBinary = values.every((value) => value === 0 || value === 1);
  if (isShare && (isBinary || spread === 0 || n === 1)) return { mean, n, ...wilson(mean, n) };
  if (n === 1) return { mean, n, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  const half = (studentQuantile(0.975, n - 1) * spread) / Math.sqrt(n);
  const [low, high] = [mean - half, mean + half];
  return isShare ? { mean, n, low: Math.max(0, low), high: Math.min(1, high) } : { mean, n, low, high };
}

/** What is known about the difference between two versions, case by case. */
export interface Difference {
  /** After minus before. */
  readonly mean: number;
  /** How likely a difference at least as large is, if there is none. */
  readonly p: number;
  /** The number of cases that both have. */
  readonly n: number;
  readonly verdict: 'better' | 'worse' | 'may be chance' | 'same';
}

/** Below this, a difference is not called chance. */
const SIGNIFICANT = 0.05;

/**
 * Compares the values of the same cases. Values that are all 0 or 1: the exact test of McNemar, which counts the cases that changed. Other
 * values: Student's paired test, or if all cases changed by the same, the sign test.
 */
export function difference(pairs: readonly (readonly [before: number, after: number])[]): Difference {
  const n = pairs.length;
  const changes = pairs.map(([before, after]) => after - before);
  const mean = n === 0 ? 0 : meanOf(changes);
  if (changes.every((change) => change === 0)) return { mean: 0, p: 1, n, verdict: 'same' };
  const p = pValue(pairs, changes, mean);
  return { mean, p, n, verdict: p >= SIGNIFICANT ? 'may be chance' : mean > 0 ? 'better' : 'worse' };
}

function pValue(pairs: readonly (readonly [number, number])[], changes: readonly number[], mean: number): number {
  const isBinary = pairs.flat().every((value) => value === 0 || value === 1);
  const spread = deviation(changes, mean);
  if (isBinary || spread === 0 || changes.length < 3) return signTest(changes);
  const t = mean / (spread / Math.sqrt(changes.length));
  return studentTail(Math.abs(t), changes.length - 1);
}

/** Two-sided: how likely at least so unequal a split is, if up and down are equally likely. */
function signTest(changes: readonly number[]): number {
  const up = changes.filter((change) => change > 0).length;
  const down = changes.filter((change) => change < 0).length;
  const n = up + down;
  // Powers of a half are too small for so many, and the curve is the normal one.
  if (n > 1_000) return studentTail((Math.abs(up - down) - 1) / Math.sqrt(n), 1e9);
  return Math.min(1, 2 * halfBinomial(Math.min(up, down), n));
}

/** The chance of at most `most` heads in `n` throws of a coin. */
function halfBinomial(most: number, n: number): number {
  let [chance, sum] = [0.5 ** n, 0];
  for (let heads = 0; heads <= most; heads++) {
    sum += chance;
    chance *= (n - heads) / (heads + 1);
  }
  return sum;
}

function wilson(share: number, n: number): Pick<Estimate, 'low' | 'high'> {
  const square = Z95 ** 2;
  const middle = (share + square / (2 * n)) / (1 + square / n);
  const half = (Z95 / (1 + square / n)) * Math.sqrt((share * (1 - share)) / n + square / (4 * n * n));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviation(values: readonly number[], mean: number): number {
  if (values.length < 2) return 0;
  // Equal values must give exactly 0, and their computed mean may differ in the last digit.
  if (values.every((value) => value === values[0])) return 0;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

/** The chance that |T| is at least `t`, for Student's distribution. */
function studentTail(t: number, freedom: number): number {
  return betaShare(freedom / (freedom + t * t), freedom / 2, 0.5);
}

function studentQuantile(share: number, freedom: number): number {
  let [low, high] = [0, 1_000];
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2;
    if (1 - studentTail(middle, freedom) / 2 < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The regularised incomplete beta function, by its continued fraction. */
function betaShare(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on this side only.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
  let [c, d] = [1, 1 / nonZero(1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m < 300; m++) {
    for (const factor of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / nonZero(1 + factor * d);
      c = nonZero(1 + factor / c);
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return front * fraction;
}

function nonZero(value: number): number {
  return Math.abs(value) < 1e-300 ? 1e-300 : value;
}

/** Stirling's series, which is exact enough from 10 on. */
function logGamma(x: number): number {
  if (x < 10) return logGamma(x + 1) - Math.log(x);
  const series = 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1_260 * x ** 5) - 1 / (1_680 * x ** 7);
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series;
}
