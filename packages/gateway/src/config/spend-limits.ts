import { z } from 'zod';
import { currencySchema } from './prices.ts';

/**
 * How much models may cost. Each limit is checked before each request to a model: the request is sent if less than the limit is spent.
 * Money is counted with the `prices` of the configuration.
 */
export interface DaySpendLimits {
  /** Money on one day, in UTC. */
  readonly perDay?: number | undefined;
  /** Input and output tokens on one day, in UTC. */
  readonly perDayTokens?: number | undefined;
  /** The currency of the limits. It must be that of the configuration. Default: that one. */
  readonly currency?: string | undefined;
}

/** The spend limits of an agent, all its conversations and sub-agents included. */
export interface SpendLimits extends DaySpendLimits {
  /** Money in one run. `tokensPerCycle` limits the tokens of a turn. */
  readonly perRun?: number | undefined;
}

/** The limits of each person, over all agents. */
export interface PersonLimits {
  readonly spend?: DaySpendLimits | undefined;
}

const money = z.number().positive().max(1_000_000_000).optional();
const tokens = z.int().min(1).max(1_000_000_000_000).optional();
const day = { perDay: money, perDayTokens: tokens, currency: currencySchema.optional() };

export const spendLimitsSchema: z.ZodType<SpendLimits> = z.strictObject({ perRun: money, ...day }).meta({
  id: 'SpendLimits',
  description: 'How much its models may cost, in money by run and day, or in tokens by day.',
});

/** The limits of a person or a project. */
export const dayLimitsSchema: z.ZodType<DaySpendLimits> = z.strictObject(day);

export const personLimitsSchema: z.ZodType<PersonLimits> = z.strictObject({ spend: dayLimitsSchema.optional() });

/** True if one of the limits is money. */
export function hasMoneyLimit({ perRun, perDay }: SpendLimits): boolean {
  return perRun !== undefined || perDay !== undefined;
}

export function hasLimit(limits: SpendLimits): boolean {
  return hasMoneyLimit(limits) || limits.perDayTokens !== undefined;
}
