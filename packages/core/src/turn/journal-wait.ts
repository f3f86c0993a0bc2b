import { JournalStalled } from '../errors.ts';
import { settlesWithin } from '../settles-within.ts';
import type { Turn } from './turn.ts';

// A normal write that is in progress when the deadline passes, or that records what the deadline ended, needs a moment:
// without it most turns with a deadline would end in doubt. This is far above what such a write takes.
const GRACE_MS = 1_000;

/**
 * Waits for a write to the journal until the turn's deadline or an abort, and a moment longer. Then rejects with
 * JournalStalled, because it is not known whether the data was written: neither continuing nor undoing would be right.
 */
export async function writtenInTime(turn: Turn, writing: PromiseLike<unknown>, what: string): Promise<void> {
  const { limit, clock, deadline } = turn;
  const work = Promise.resolve(writing);
  if (!limit.isHit(await limit.race(work))) return;
  // The journal may use all of the time that is reserved for the last answer.
  const left = limit.hit?.code === 'timeout' && deadline !== undefined ? deadline - clock.now() : 0;
  if (!(await settlesWithin(clock, Math.max(GRACE_MS, left), work))) throw new JournalStalled(what);
}
