import type { DaySpendLimits } from '../../config/spend-limits.ts';
import type { SpendScope, Spent } from '../../domain/usage/spent.ts';
import { nextDay } from '../../domain/usage/usage-row.ts';

/** Why a request to a model was refused. */
export interface SpendRefusal {
  readonly scope: 'run' | SpendScope['scope'];
  /** The agent, the person or the project. Empty for a run. */
  readonly id: string;
  readonly dimension: 'money' | 'tokens';
  readonly limit: number;
  readonly spent: number;
  /** When the day of the limit ends. Undefined for a run. */
  readonly until?: number;
}

/** The limit of a day that is reached, if one is. */
export function dayLimitReached(
  { scope, id }: SpendScope,
  { perDay, perDayTokens }: DaySpendLimits,
  { cost, tokens }: Spent,
  now: number,
): SpendRefusal | undefined {
  const until = nextDay(now);
  if (perDay !== undefined && isReached(cost, perDay))
    return { scope, id, dimension: 'money', limit: perDay, spent: cost, until };
  if (perDayTokens !== undefined && tokens >= perDayTokens)
    return { scope, id, dimension: 'tokens', limit: perDayTokens, spent: tokens, until };
  return undefined;
}

/** Sums of binary fractions miss a limit by tiny amounts. */
export function isReached(spent: number, limit: number): boolean {
  return spent >= limit - 1e-9;
}

export function hasDayLimit({ perDay, perDayTokens }: DaySpendLimits): boolean {
  return perDay !== undefined || perDayTokens !== undefined;
}

/** What people in a space read. It names no amounts: those are the operator's. */
export function textForPeople({ scope, until = 0 }: SpendRefusal): string {
  // Made here, because it takes 20 ms to make the first one of a process, and most gateways need none.
  const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  const at = `${date.format(until)}, 00:00 UTC`;
  if (scope === 'project')
    return `The agents of this project have used up what they may spend in a day. They continue on ${at}, and what arrives until then waits.`;
  return scope === 'person'
    ? `The person who asked has used up what one person may spend in a day. What they write waits until ${at}.`
    : `The agent has used up what it may spend in a day. It continues on ${at}, and what arrives until then waits.`;
}

/** What operators read. */
export function textForOperators(refusal: SpendRefusal, agent: { id: string; name: string }, currency: string): string {
  const { scope, id, dimension, limit, spent, until = 0 } = refusal;
  const unit = dimension === 'money' ? currency : 'tokens';
  const amount = `${round(spent)} of ${limit} ${unit}`;
  if (scope === 'run') return `A run of the agent has spent ${amount}, which is its limit (limits.spend.perRun).`;
  const rest = `of today, in UTC. What arrives waits until ${new Date(until).toISOString()}, or until the limit is raised.`;
  if (scope === 'project') return `Project ${id} has spent ${amount} ${rest}`;
  return scope === 'agent'
    ? `Agent ${JSON.stringify(agent.name)} (${agent.id}) has spent ${amount} ${rest}`
    : `Person ${id} has spent ${amount} ${rest}`;
}

function round(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
