import type { Usage } from '@lastcall/core';
import type { ModelPrice, ModelPrices } from '../../config/prices.ts';

/** The parts of a reply that determine its cost. */
interface PricedReply {
  readonly model?: string;
  readonly usage: Usage;
}

/** The cost of a reply. Undefined if the price of its model is not configured. */
export function costOf({ model, usage }: PricedReply, prices: ModelPrices = {}): number | undefined {
  const price = model === undefined ? undefined : priceOf(model, prices);
  if (price === undefined) return undefined;
  return rounded((usage.inputTokens * price.input + usage.outputTokens * price.output) / 1_000_000);
}

/** The cost of all replies. Undefined if the price of one is not known: a partial sum would look like the total. */
export function totalCost(replies: readonly PricedReply[], prices: ModelPrices = {}): number | undefined {
  const costs = replies.map((reply) => costOf(reply, prices));
  return costs.some((cost) => cost === undefined)
    ? undefined
    : rounded(costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0));
}

/** A reply has the provider's own name for its model. */
function priceOf(model: string, prices: ModelPrices): ModelPrice | undefined {
  const name = Object.hasOwn(prices, model) ? model : Object.keys(prices).find((key) => key.endsWith(`/${model}`));
  return name === undefined ? undefined : prices[name];
}

/** Rounds away the noise of binary fractions. */
function rounded(cost: number): number {
  return Math.round(cost * 1e9) / 1e9;
}
