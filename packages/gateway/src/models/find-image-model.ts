import type { ImageModelV4 } from '@ai-sdk/provider';
import { LastcallError } from '@lastcall/core';
import { keyOf, loadProvider, PROVIDERS } from './provider-package.ts';

export interface ImageModelOptions {
  /** The image models of the configuration file, by `provider/model`. */
  readonly imageModels: Readonly<Record<string, ImageModelV4>>;
  /** The base URL of `openai-compatible`. */
  readonly modelUrl: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The fetch that enforces the egress rules. Providers also load images from URLs that a server names. */
  readonly fetch: typeof globalThis.fetch;
}

export type FindImageModel = (provider: string, model: string) => Promise<ImageModelV4>;

/** Names that stand for another provider. */
const ALIASES: Readonly<Record<string, string>> = { 'dall-e': 'openai', dalle: 'openai' };

interface ImageProvider {
  image?(id: string): ImageModelV4;
  imageModel(id: string): ImageModelV4;
}

/** Finds image models of providers. A provider's package is loaded when it is first used. */
export function imageModelFinder(options: ImageModelOptions): FindImageModel {
  const { imageModels, env, fetch, modelUrl } = options;
  return async (given, model) => {
    const provider = ALIASES[given] ?? given;
    const name = `${provider}/${model}`;
    if (Object.hasOwn(imageModels, name)) return imageModels[name] as ImageModelV4;
    if (provider === 'openai-compatible') return await compatible(model, { env, fetch, modelUrl });
    const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
    if (known === undefined) throw unknownProvider(given);
    const apiKey = keyOf(known, { name, env });
    const create = (await loadProvider(known.module, name))[known.create] as (settings: object) => ImageProvider;
    return create({ apiKey, fetch }).imageModel(model);
  };
}

async function compatible(
  model: string,
  { env, fetch, modelUrl }: Omit<ImageModelOptions, 'imageModels'>,
): Promise<ImageModelV4> {
  if (modelUrl === undefined)
    throw new LastcallError('model', `The image model "${model}" needs an address: set LASTCALL_MODEL_URL.`);
  const apiKey = env.LASTCALL_MODEL_KEY ?? env.OPENAI_API_KEY;
  const { createOpenAICompatible } = (await loadProvider('@ai-sdk/openai-compatible', model)) as {
    createOpenAICompatible(settings: object): ImageProvider;
  };
  const settings = { name: 'openai-compatible', baseURL: modelUrl, fetch, ...(apiKey === undefined ? {} : { apiKey }) };
  return createOpenAICompatible(settings).imageModel(model);
}

function unknownProvider(provider: string): LastcallError {
  const known = [...Object.keys(PROVIDERS), 'openai-compatible'].join(', ');
  const message = `There is no image provider "${provider}". Use ${known}, "dall-e", or one of the configuration's imageModels.`;
  return new LastcallError('model', message);
}
