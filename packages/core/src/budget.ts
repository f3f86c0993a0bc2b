import { OptionsError } from './errors.ts';
import { assertKnownOptions, type KnownNames, knownNames } from './unknown-option.ts';

/** How much a run may use. At least one limit, each above 0. */
export interface BudgetLimits {
  tokens?: number;
  toolCalls?: number;
}

type Dimension = keyof BudgetLimits;

const DIMENSIONS: readonly Dimension[] = ['tokens', 'toolCalls'];
const LIMITS: KnownNames = knownNames<BudgetLimits>(
  { tokens: true, toolCalls: true },
  { maxTokens: 'tokens', maxToolCalls: 'toolCalls', calls: 'toolCalls' },
);

/** Limits and how much of them is used. Nested runs share their parent's. */
export interface Budget {
  readonly limits: Readonly<BudgetLimits>;
  used(dimension: Dimension): number;
  /** Infinity if the dimension has no limit. */
  remaining(dimension: Dimension): number;
  add(dimension: Dimension, amount: number): void;
  /** The dimension that another call would exceed, if there is one. Exactly at a limit is within it. */
  exhausted(): Dimension | undefined;
}

export function createBudget(limits: BudgetLimits): Budget {
  const checked = checkLimits(limits);
  const used: Record<Dimension, number> = { tokens: 0, toolCalls: 0 };
  const limitOf = (dimension: Dimension): number => checked[dimension] ?? Number.POSITIVE_INFINITY;
  return {
    limits: checked,
    used: (dimension) => used[dimension],
    remaining: (dimension) => Math.max(0, limitOf(dimension) - used[dimension]),
    add(dimension, amount) {
      used[dimension] += amount;
    },
    exhausted() {
      if (used.toolCalls + 1 > limitOf('toolCalls')) return 'toolCalls';
      return used.tokens > limitOf('tokens') ? 'tokens' : undefined;
    },
  };
}

/** A budget as the caller gives it: an existing one that is shared, or limits for this run alone. */
export function toBudget(given: Budget | BudgetLimits | undefined): Budget | undefined {
  if (given === undefined) return undefined;
  return typeof given === 'object' && given !== null && 'exhausted' in given ? given : createBudget(given);
}

function checkLimits(limits: BudgetLimits): Readonly<BudgetLimits> {
  if (typeof limits !== 'object' || limits === null) throw new OptionsError('budget', 'must be an object of limits.');
  assertKnownOptions(limits, LIMITS, 'budget.');
  const given = DIMENSIONS.filter((dimension) => limits[dimension] !== undefined);
  if (given.length === 0) throw new OptionsError('budget', `must have a limit: ${DIMENSIONS.join(' or ')}.`);
  for (const dimension of given) {
    const limit = limits[dimension];
    if (typeof limit !== 'number' || !(limit > 0))
      throw new OptionsError(`budget.${dimension}`, `must be a number above 0, not ${String(limit)}.`);
  }
  return Object.freeze({ ...limits });
}

/** A nested run must stay within its own budget and its parent's, and uses up both. */
export function nestBudget(own: Budget | undefined, parents: Budget | undefined): Budget | undefined {
  if (own === undefined || parents === undefined || own === parents) return own ?? parents;
  return {
    limits: { ...parents.limits, ...own.limits },
    used: (dimension) => own.used(dimension),
    remaining: (dimension) => Math.min(own.remaining(dimension), parents.remaining(dimension)),
    add(dimension, amount) {
      own.add(dimension, amount);
      parents.add(dimension, amount);
    },
    exhausted: () => own.exhausted() ?? parents.exhausted(),
  };
}
