import type { Run } from '@lastcall/client';
import type { RunsFilter } from '../../data/runs.ts';
import type { RunsSearch } from '../../data/search.ts';

const STATUSES = ['running', 'waiting', 'completed', 'failed', 'cancelled'] as const;

/** By which a list of runs can be filtered, and in which their calls are counted: what needs attention first. */
export const CALL_STATUSES = [
  'running',
  'waiting',
  'error',
  'unknown',
  'denied',
  'expired',
  'ok',
  'cancelled',
  'skipped',
] as const satisfies readonly (keyof Run['counts'])[];

/** How far back a list goes, in milliseconds, by the word in its address. */
const SINCE = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 30 * 86_400_000 } as const;

/** The address as a filter for the gateway. Unknown values are left out, so that an old link still opens. */
export function toRunsFilter({ agent, status, stop, tool, outcome, since }: RunsSearch, now: number): RunsFilter {
  const sinceMs = since !== undefined && Object.hasOwn(SINCE, since) ? SINCE[since as keyof typeof SINCE] : undefined;
  const knownStatus = STATUSES.find((one) => one === status);
  const knownOutcome = CALL_STATUSES.find((one) => one === outcome);
  return {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(knownStatus === undefined ? {} : { status: knownStatus }),
    ...(stop === undefined ? {} : { stop }),
    ...(tool === undefined ? {} : { toolName: tool }),
    ...(knownOutcome === undefined ? {} : { outcome: knownOutcome }),
    // The time is rounded to the minute, so that the query stays the same and its answer is cached.
    ...(sinceMs === undefined ? {} : { since: Math.floor((now - sinceMs) / 60_000) * 60_000 }),
  };
}
