import { expect, test } from 'vitest';
import { timeline } from '../src/timeline.ts';

test('[S12] replay names a call that waits, with what it asks, and how it ended once it has', () => {
  const run = { id: 'r1', cycle: 1, status: 'completed', createdAt: 0, endedAt: 5 };
  const settlement = {
    callId: 'c1',
    toolName: 'confirm_booking',
    input: { question: 'Book it?' },
    outcome: { status: 'pending' },
    startedAt: 3,
    endedAt: 3,
  };
  const entries = [{ kind: 'pending', at: 3, entry: { kind: 'pending', settlement } }];
  expect(timeline(run, entries).split('\n')[1]).toBe('  waiting   confirm_booking {"question":"Book it?"}');
  // It was answered in a later run.
  const ended = { outcome: { status: 'ok', text: 'true' }, at: 2_003 };
  const after = timeline(run, [{ ...entries[0], ended } as (typeof entries)[0]]);
  expect(after.split('\n')[1]).toBe('  ok        confirm_booking {"question":"Book it?"}  2.0 s  true');
});
