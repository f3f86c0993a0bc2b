import { expect, test } from 'vitest';
import { timeline } from '../src/timeline.ts';

test('[S12] replay names a call that waits, with what it asks', () => {
  const run = { id: 'r1', cycle: 1, status: 'completed', createdAt: 0, endedAt: 5 };
  const settlement = {
    callId: 'c1',
    toolName: 'confirm_booking',
    input: { question: 'Book it?' },
    outcome: { status: 'pending' },
  };
  const entries = [{ kind: 'pending', at: 3, entry: { kind: 'pending', settlement } }];
  expect(timeline(run, entries).split('\n')[1]).toBe('  waiting   confirm_booking {"question":"Book it?"}');
});
