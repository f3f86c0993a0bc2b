import type { LanguageModelV4 } from '@ai-sdk/provider';
import { OptionsError } from '../errors.ts';
import { renderValue } from '../results/render.ts';
import type { LanguageModelV3Like } from './lift-model.ts';

const VERSIONS: readonly unknown[] = ['v4', 'v3'];
const EXAMPLE = 'e.g. anthropic("…") of @ai-sdk/anthropic';

/**
 * Refuses a value that is not a language model, and a model of an unsupported interface version. A model of version 2
 * would fail in the middle of its reply with an error that does not mention versions.
 */
export function assertModel(model: unknown): asserts model is LanguageModelV4 | LanguageModelV3Like {
  if (typeof model === 'string')
    throw new OptionsError('model', `must be the model itself, ${EXAMPLE}, not its name ${JSON.stringify(model)}.`);
  const given = (typeof model === 'object' && model !== null ? model : {}) as Partial<LanguageModelV4>;
  if (typeof given.doGenerate !== 'function' || typeof given.doStream !== 'function')
    throw new OptionsError('model', `must be an AI SDK language model, ${EXAMPLE}.`);
  const version: unknown = given.specificationVersion;
  if (VERSIONS.includes(version)) return;
  const found =
    version === undefined ? 'names no interface version' : `is of interface version ${renderValue(version)}`;
  const remedy = "Update the provider's package to one for AI SDK 7 or 6.";
  throw new OptionsError('model', `${found} (specificationVersion); supported are v4 and v3. ${remedy}`);
}
