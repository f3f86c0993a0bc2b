import { z } from 'zod';

/** The price of a million tokens of a model, in the currency of the configuration. */
export interface ModelPrice {
  readonly input: number;
  /** Input tokens that the provider reads from its cache. Default: the price of other input. */
  readonly cached?: number | undefined;
  readonly output: number;
}

/** Prices by the name of the model: `provider/model`, as agents name it, or the provider's own name of it. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const price = z.number().min(0).max(1_000_000);

export const pricesSchema: z.ZodType<ModelPrices> = z.record(
  z.string().regex(/^\S{1,200}$/),
  z.strictObject({ input: price, cached: price.optional(), output: price }),
);

/** The currency of prices and spend limits. It is a name: nothing is converted. */
export const DEFAULT_CURRENCY = 'USD';

const CURRENCY = 'must be the code of a currency, e.g. "USD" or "EUR".';

export const currencySchema: z.ZodType<string> = z.string().regex(/^[A-Z]{3}$/, { error: CURRENCY });

/** The price of a model by the provider's name of it, which is what replies have. */
export function priceOf(model: string, prices: ModelPrices): ModelPrice | undefined {
  const name = Object.hasOwn(prices, model) ? model : Object.keys(prices).find((key) => key.endsWith(`/${model}`));
  return name === undefined ? undefined : prices[name];
}
