import type { Usage } from '@lastcall/core';
import type { ModelPrice, ModelPrices } from '../../config/prices.ts';

/** A reply, as far as it costs something. */
interface PricedReply {
  readonly model?: string;
  readonly usage: Usage;
}

/** What a reply cost. Undefined if the price of its model is not configured. */
export function costOf({ model, usage }: PricedReply, prices: ModelPrices = {}): number | undefined {
  const price = model === undefined ? undefined : priceOf(model, prices);
  if (price === undefined) return undefined;
  return rounded((usage.inputTokens * price.input + usage.outputTokens * price.output) / 1_000_000);
}

/** What all replies cost. Undefined if the price of one is not known: a part of the sum would pass for the whole. */
export function totalCost(replies: readonly PricedReply[], prices: ModelPrices = {}): number | undefined {
  const costs = replies.map((reply) => costOf(reply, prices));
  return costs.some((cost) => cost === undefined)
    ? undefined
    : rounded(costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0));
}

/** A reply knows the provider's own name of its model. */
function priceOf(model: string, prices: ModelPrices): ModelPrice | undefined {
  const name = Object.hasOwn(prices, model) ? model : Object.keys(prices).find((key) => key.endsWith(`/${model}`));
  return name === undefined ? undefined : prices[name];
}

/** Without the noise of binary fractions. */
function rounded(cost: number): number {
  return Math.round(cost * 1e9) / 1e9;
}
