import type { Usage } from '@lastcall/core';
import { type ModelPrices, priceOf } from '../../config/prices.ts';

/** The parts of a reply that determine its cost. */
interface PricedReply {
  readonly model?: string;
  readonly usage: Usage;
}

/** The cost of a reply. Undefined if the price of its model is not configured. */
export function costOf({ model, usage }: PricedReply, prices: ModelPrices = {}): number | undefined {
  const price = model === undefined ? undefined : priceOf(model, prices);
  if (price === undefined) return undefined;
  const { inputTokens, cachedTokens = 0, outputTokens } = usage;
  const { input, cached = input, output } = price;
  return rounded(((inputTokens - cachedTokens) * input + cachedTokens * cached + outputTokens * output) / 1_000_000);
}

/** The cost of all replies. Undefined if the price of one is not known: a partial sum would look like the total. */
export function totalCost(replies: readonly PricedReply[], prices: ModelPrices = {}): number | undefined {
  const costs = replies.map((reply) => costOf(reply, prices));
  return costs.some((cost) => cost === undefined)
    ? undefined
    : rounded(costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0));
}

/** Rounds away the noise of binary fractions. */
function rounded(cost: number): number {
  return Math.round(cost * 1e9) / 1e9;
}
