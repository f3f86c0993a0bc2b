import { z } from 'zod';

/** How a model is asked: for an agent, a request of a conversation, or a sub-agent. */
export interface ModelSettingsConfig {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly reasoning?: Reasoning | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  /** Settings of one provider, by its name. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

const REASONING = ['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

type Reasoning = (typeof REASONING)[number];

/** Unknown settings are refused: one that no provider gets would look as if it had an effect. */
export const modelSettingsSchema: z.ZodType<ModelSettingsConfig> = z
  .strictObject({
    temperature: z.number().min(0).max(100).optional(),
    topP: z.number().min(0).max(1).optional(),
    maxOutputTokens: z.int().min(1).max(1_000_000_000).optional(),
    seed: z.int().optional(),
    reasoning: z.enum(REASONING).optional(),
    stopSequences: z.array(z.string().min(1).max(1_000)).max(100).optional(),
    providerOptions: z.record(z.string().min(1).max(100), z.record(z.string(), z.unknown())).optional(),
  })
  .meta({ id: 'ModelSettings', description: 'How the model is asked. Default: as its provider does.' });
