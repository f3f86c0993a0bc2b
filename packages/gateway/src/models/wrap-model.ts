import type { LanguageModelV4 } from '@ai-sdk/provider';

/** The same model, asked in another way. */
export function wrapModel(
  model: LanguageModelV4,
  ask: Pick<LanguageModelV4, 'doGenerate' | 'doStream'>,
): LanguageModelV4 {
  return {
    // Core checks the version to know how to call the model, so a model with an older version must keep it.
    specificationVersion: model.specificationVersion,
    // Read again each time: of a list of models, another one may have answered.
    get provider() {
      return model.provider;
    },
    get modelId() {
      return model.modelId;
    },
    get supportedUrls() {
      return model.supportedUrls;
    },
    ...ask,
  };
}
