import { z } from 'zod';

/** What a model can be shown besides text. */
export type ModelFile = (typeof MODEL_FILES)[number];

const MODEL_FILES = ['image', 'pdf'] as const;

/** By the name of the model: `provider/model`, as agents name it, or the provider's own name of it. */
export type ModelFiles = Readonly<Record<string, readonly ModelFile[]>>;

export const modelFilesSchema: z.ZodType<ModelFiles> = z.record(
  z.string().regex(/^\S{1,200}$/),
  z.array(z.enum(MODEL_FILES)).max(MODEL_FILES.length),
);

interface NamedModel {
  readonly name: string;
  readonly provider: string;
  readonly modelId: string;
}

/**
 * The current models of these providers read both. Of other models it is not known, and a request with an image would fail, so they are
 * told that there is one.
 */
const READERS = /^(openai|anthropic|google|azure|vertex|amazon-bedrock)\b/;

export function takenBy({ name, provider, modelId }: NamedModel, known: ModelFiles): readonly ModelFile[] {
  const said = [name, `${provider}/${modelId}`, modelId].find((one) => Object.hasOwn(known, one));
  if (said !== undefined) return known[said] ?? [];
  // Servers that only speak OpenAI's protocol have any model.
  return READERS.test(provider) && !provider.startsWith('openai-compatible') ? MODEL_FILES : [];
}
