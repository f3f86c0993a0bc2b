import { expect, test } from 'vitest';
import { ListPace } from '../../src/runtime/tools/mcp/list-pace.ts';

function startPace({ isPolled = false }: { isPolled?: boolean } = {}) {
  let now = 1_000_000;
  const pace = new ListPace({ isPolled, now: () => now });
  const read = (as: 'same' | 'changed' | 'failed'): void => pace.begin()(as);
  read('changed');
  return { pace, read, pass: (ms: number) => (now += ms) };
}

test('[X24] the first change after a quiet time is read at once, the next ones 10 s later, and ever less often while they go on', () => {
  const { pace, read, pass } = startPace();
  expect(pace.waitMs).toBe(Number.POSITIVE_INFINITY);
  const waits = Array.from({ length: 10 }, () => {
    pace.announce();
    const { waitMs } = pace;
    pass(waitMs);
    read('changed');
    return waitMs / 1_000;
  });
  expect(waits).toEqual([0, 10, 20, 40, 80, 160, 320, 600, 600, 600]);
  pass(1_200_000);
  pace.announce();
  expect(pace.waitMs).toBe(0);
  read('same');
  pace.announce();
  expect(pace.waitMs).toBe(10_000);
});

test('[X24] a list that is polled and differs each time is polled less often, and a quiet one every 5 s', () => {
  const { pace, read, pass } = startPace({ isPolled: true });
  const poll = (as: 'same' | 'changed'): number => {
    const { waitMs } = pace;
    pass(waitMs);
    read(as);
    return waitMs;
  };
  expect([poll('same'), poll('same'), poll('changed'), poll('changed'), poll('changed'), poll('same')]).toEqual([
    5_000, 5_000, 5_000, 10_000, 20_000, 40_000,
  ]);
  expect([poll('same'), poll('same')]).toEqual([5_000, 5_000]);
});

test('[X24] a list that could not be read is read again after 3 s, and a change that is announced while it is read is not missed', () => {
  const { pace, read, pass } = startPace();
  pace.announce();
  read('failed');
  expect([pace.hasFailed, pace.waitMs]).toEqual([true, 3_000]);
  pass(3_000);
  const end = pace.begin();
  pace.announce();
  end('changed');
  expect([pace.hasFailed, pace.waitMs]).toEqual([false, 10_000]);
});

test('[X17] a list that must be current is read without waiting for the pause', () => {
  const { pace, read } = startPace();
  pace.announce();
  read('changed');
  pace.announce();
  expect(pace.waitMs).toBe(10_000);
  pace.demand();
  expect(pace.waitMs).toBe(0);
  read('failed');
  expect(pace.waitMs).toBe(3_000);
});
