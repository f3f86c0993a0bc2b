import type { LanguageModelV4 } from '@ai-sdk/provider';
import { LastcallError } from '@lastcall/core';
import { rehearsalModel } from './rehearsal/rehearsal-model.ts';

export interface ModelOptions {
  /**
   * The model of agents that name none. Without it, that of the provider whose key is in the environment, or the
   * rehearsal.
   */
  readonly model: string | undefined;
  /** The base URL of `openai-compatible/<model>`. */
  readonly modelUrl: string | undefined;
  /** The models of the configuration file, by name. */
  readonly models: Readonly<Record<string, LanguageModelV4>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How to create a provider's models. Its package is loaded when one of its models is first used. */
interface Provider {
  readonly module: string;
  readonly create: string;
  readonly key: string;
  /** The model that is used if only a key is set. */
  readonly defaultModel: string;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  anthropic: {
    module: '@ai-sdk/anthropic',
    create: 'createAnthropic',
    key: 'ANTHROPIC_API_KEY',
    defaultModel: 'claude-sonnet-4-5',
  },
  openai: { module: '@ai-sdk/openai', create: 'createOpenAI', key: 'OPENAI_API_KEY', defaultModel: 'gpt-5' },
  google: {
    module: '@ai-sdk/google',
    create: 'createGoogleGenerativeAI',
    key: 'GOOGLE_GENERATIVE_AI_API_KEY',
    defaultModel: 'gemini-2.5-pro',
  },
};

/** Finds models by name and creates each only once. */
export function modelFinder(options: ModelOptions): (name: string | undefined) => Promise<LanguageModelV4> {
  const found = new Map<string, Promise<LanguageModelV4>>();
  return (name = defaultModelName(options)) => {
    const known = found.get(name) ?? findModel(name, options);
    found.set(name, known);
    // A failure is not remembered: the package may be installed later.
    known.catch(() => found.delete(name));
    return known;
  };
}

/** The model of agents that name none. */
function defaultModelName({ model, env }: ModelOptions): string {
  if (model !== undefined) return model;
  const keyed = Object.entries(PROVIDERS).find(([, { key }]) => env[key] !== undefined && env[key] !== '');
  return keyed === undefined ? 'rehearsal' : `${keyed[0]}/${keyed[1].defaultModel}`;
}

async function findModel(name: string, { models, modelUrl, env }: ModelOptions): Promise<LanguageModelV4> {
  if (Object.hasOwn(models, name)) return models[name] as LanguageModelV4;
  if (name === 'rehearsal') return rehearsalModel();
  const [provider = '', ...rest] = name.split('/');
  const model = rest.join('/');
  if (provider === 'openai-compatible' && model !== '') return await openAiCompatible(model, { modelUrl, env });
  const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  if (known === undefined || model === '') throw unknownModel(name);
  if ((env[known.key] ?? '') === '')
    throw new LastcallError('model', `The model "${name}" needs a key: set ${known.key} in the environment.`);
  const create = (await load(known.module, name))[known.create] as (
    settings: object,
  ) => (id: string) => LanguageModelV4;
  return create({ apiKey: env[known.key] })(model);
}

async function openAiCompatible(
  model: string,
  { modelUrl, env }: Pick<ModelOptions, 'modelUrl' | 'env'>,
): Promise<LanguageModelV4> {
  if (modelUrl === undefined)
    throw new LastcallError(
      'model',
      `The model "openai-compatible/${model}" needs an address: set LASTCALL_MODEL_URL.`,
    );
  const { createOpenAICompatible } = (await load('@ai-sdk/openai-compatible', model)) as {
    createOpenAICompatible(settings: object): (id: string) => LanguageModelV4;
  };
  const apiKey = env.LASTCALL_MODEL_KEY ?? env.OPENAI_API_KEY;
  return createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: modelUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
  })(model);
}

async function load(module: string, model: string): Promise<Record<string, unknown>> {
  try {
    return (await import(module)) as Record<string, unknown>;
  } catch (cause) {
    const message = `The model "${model}" needs the package ${module}, which cannot be loaded: npm install ${module}`;
    throw new LastcallError('model', message, { cause });
  }
}

function unknownModel(name: string): LastcallError {
  const known = Object.keys(PROVIDERS).map((provider) => `${provider}/<model>`);
  const list = [...known, 'openai-compatible/<model>', 'rehearsal'].join(', ');
  return new LastcallError('model', `There is no model "${name}". Use ${list}, or one of the configuration's models.`);
}
