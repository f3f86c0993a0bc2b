import { type Budget, type BudgetLimits, toBudget } from '../budget.ts';
import type { Settlement } from '../results/outcome.ts';
import type { TurnProgress } from '../transcript/progress.ts';

/**
 * The budget of a turn. Limits given as numbers hold for the whole turn: what it used before it was resumed counts. A
 * budget object of the host keeps its own count.
 */
export function turnBudget(
  given: Budget | BudgetLimits | undefined,
  before: Pick<TurnProgress, 'usage' | 'settled'> | undefined,
): Budget | undefined {
  const budget = toBudget(given);
  if (budget === undefined || budget === given || before === undefined) return budget;
  budget.add('tokens', before.usage.totalTokens);
  budget.add('toolCalls', before.settled.filter(hasRun).length);
  return budget;
}

const NOT_RUN: readonly string[] = [
  'unknown_tool',
  'invalid_input',
  'denied',
  'budget',
  'expired',
  'terminal_already_called',
  'transition_already_called',
];

function hasRun({ outcome }: Settlement): boolean {
  return outcome.status === 'ok' || (outcome.status === 'error' && !NOT_RUN.includes(outcome.code));
}
