import { z } from 'zod';

/** The price of a million tokens of a model, in any currency. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** Prices by the name of the model: `provider/model`, as agents name it, or the provider's own name of it. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const price = z.number().min(0).max(1_000_000);

export const pricesSchema: z.ZodType<ModelPrices> = z.record(
  z.string().regex(/^\S{1,200}$/),
  z.strictObject({ input: price, output: price }),
);
