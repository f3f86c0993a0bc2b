import { JournalStalled } from '../errors.ts';
import { settlesWithin } from '../settles-within.ts';
import type { Turn } from './turn.ts';

// An honest write that is under way when the deadline passes, or that tells of what the deadline ended, needs a moment:
// without it most turns with a deadline would end in doubt. Far above what such a write takes.
const GRACE_MS = 1_000;

/**
 * A write of the journal, waited for until the turn's deadline or an abort, and a moment longer. Rejects with JournalStalled
 * then, because nobody knows whether it was written: neither to go on nor to take anything back would be right.
 */
export async function writtenInTime(turn: Turn, writing: PromiseLike<unknown>, what: string): Promise<void> {
  const { limit, clock, deadline } = turn;
  const work = Promise.resolve(writing);
  if (!limit.isHit(await limit.race(work))) return;
  // The journal may use all of the time that is reserved for the last answer.
  const left = limit.hit?.code === 'timeout' && deadline !== undefined ? deadline - clock.now() : 0;
  if (!(await settlesWithin(clock, Math.max(GRACE_MS, left), work))) throw new JournalStalled(what);
}
