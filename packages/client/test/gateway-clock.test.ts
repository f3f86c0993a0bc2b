import { expect, test } from 'vitest';
import { createGatewayClock } from '../src/gateway-clock.ts';

test('the gateway’s time is known to less than a second, however wrong the local clock is, also after the clock was set', () => {
  let ownMs = 0;
  let behindMs = 3_600_000;
  const clock = createGatewayClock(() => ownMs);
  const answerAt = (own: number): void => {
    ownMs = own + 40;
    const date = new Date(Math.floor((own + behindMs) / 1_000) * 1_000).toUTCString();
    clock.learn(new Headers({ date }), own);
  };
  clock.learn(new Headers(), 0);
  expect(clock.now()).toBe(0);
  for (const at of [1_010, 2_300, 3_550, 4_800]) answerAt(at);
  expect(Math.abs(clock.now() - (ownMs + behindMs))).toBeLessThan(300);
  behindMs = -60_000;
  answerAt(9_000);
  expect(Math.abs(clock.now() - (ownMs + behindMs))).toBeLessThan(1_000);
});
