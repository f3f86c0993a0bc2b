import { z } from 'zod';
import type { ToolExecution } from './tool-config.ts';

/** A tool that makes images. Other fields (`quality`, `style` …) are passed on to the provider. */
export interface ImageExecution {
  readonly provider: string;
  readonly model: string;
  readonly size?: `${number}x${number}` | undefined;
  readonly aspectRatio?: `${number}:${number}` | undefined;
  readonly seed?: number | undefined;
  readonly n?: number | undefined;
  /** Milliseconds. */
  readonly timeout?: number | undefined;
}

const imageSchema = z.looseObject({
  provider: z.string().regex(/^[\w.-]{1,100}$/, { error: 'must be the name of a provider, e.g. "openai".' }),
  model: z.string().regex(/^\S{1,200}$/, { error: 'must be the name of an image model without spaces.' }),
  size: z
    .custom<`${number}x${number}`>((text) => /^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(String(text)), {
      error: 'must be width x height, e.g. "1024x1024".',
    })
    .optional(),
  aspectRatio: z
    .custom<`${number}:${number}`>((text) => /^[1-9]\d{0,3}:[1-9]\d{0,3}$/.test(String(text)), {
      error: 'must be width : height, e.g. "16:9".',
    })
    .optional(),
  seed: z.int().optional(),
  n: z.int().min(1).max(10).optional(),
  timeout: z.int().min(1).max(86_400_000).optional(),
});

export const imageExecutionSchema: z.ZodType = imageSchema;

/** A checked execution, and the fields that only the provider understands. */
export function readImageExecution(execution: ToolExecution): {
  readonly image: ImageExecution;
  readonly providerOptions: Readonly<Record<string, unknown>>;
} {
  const { provider, model, size, aspectRatio, seed, n, timeout, ...providerOptions } = imageSchema.parse(execution);
  return { image: { provider, model, size, aspectRatio, seed, n, timeout }, providerOptions };
}
