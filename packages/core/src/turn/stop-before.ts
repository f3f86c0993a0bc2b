import { MaxInvocationsExceeded } from '../contract/terminating.ts';
import type { Stop } from '../transcript/stop.ts';
import type { Turn } from './turn.ts';

/** What keeps the model from being asked again, if anything does. */
export function stopBefore(turn: Turn): Stop | undefined {
  if (turn.limit.hit !== undefined) return stopOfLimit(turn);
  if (turn.contract !== undefined && turn.progress.steps >= turn.contract.maxInvocations)
    throw new MaxInvocationsExceeded(turn.transcript);
  if (turn.progress.steps >= turn.maxSteps) return { reason: 'max_steps' };
  return stopOfBudget(turn);
}

export function stopOfLimit(turn: Turn): Stop {
  return turn.limit.hit?.code === 'aborted' ? { reason: 'aborted' } : { reason: 'deadline' };
}

function stopOfBudget(turn: Turn): Stop | undefined {
  const { budget } = turn;
  if (budget === undefined) return undefined;
  const exhausted = budget.exhausted();
  if (exhausted !== undefined && turn.progress.refusedByBudget) return { reason: 'budget', dimension: exhausted };
  // It checks what remains, and not what was used: with nested budgets either may be the one that is spent.
  const reserve = turn.progress.steps > 0 ? (turn.options.reserveTokens ?? 0) : 0;
  return budget.remaining('tokens') <= reserve ? { reason: 'budget', dimension: 'tokens' } : undefined;
}
