import type { LanguageModelV4 } from '@ai-sdk/provider';
import { LastcallError } from '@lastcall/core';
import { liftModel } from '@lastcall/core/internal';
import { chooseDefaultModel, type DefaultModel } from './default-model.ts';
import { fallbackModel } from './fallback-model.ts';
import { keyOf, loadProvider, PROVIDERS } from './provider-package.ts';
import { rehearsalModel } from './rehearsal/rehearsal-model.ts';
import { type FileSource, withFiles } from './with-files.ts';

export interface ModelOptions {
  /** The model of agents that name none. Default: the model of the provider whose key is in the environment, or the rehearsal. */
  readonly model: string | undefined;
  /** The base URL of `openai-compatible/<model>`. */
  readonly modelUrl: string | undefined;
  /** The models of the configuration file, by name. */
  readonly models: Readonly<Record<string, LanguageModelV4>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the files of messages come from. Default: there are none. */
  readonly files?: FileSource;
  readonly tapModel?: ((model: LanguageModelV4) => LanguageModelV4) | undefined;
}

export interface ModelFinder {
  /** Finds a model by name, or the default without one. Each is created only once. Several names are models that replace each other. */
  find(name: ModelName): Promise<LanguageModelV4>;
  /** The model of agents that name none. */
  readonly default: Promise<DefaultModel>;
  /** Why these models cannot work, one sentence each. Undefined means the default model. */
  problems(names: readonly ModelName[]): Promise<readonly string[]>;
}

/** A name, a list in the order in which the models are asked, or the default. */
type ModelName = string | readonly string[] | undefined;

export function modelFinder(options: ModelOptions): ModelFinder {
  const found = new Map<string, Promise<LanguageModelV4>>();
  const chosen = chooseDefaultModel(options);
  const findNamed = (name: string): Promise<LanguageModelV4> => {
    const known = found.get(name) ?? findReader(name, options);
    found.set(name, known);
    // A failure is not remembered: the package may be installed later.
    known.catch(() => found.delete(name));
    return known;
  };
  const find = async (name: ModelName): Promise<LanguageModelV4> => {
    if (typeof name === 'string' || name === undefined) return await findNamed(name ?? (await chosen).name);
    return fallbackModel(
      name.map((one) => ({ name: one, find: () => findNamed(one) })),
      await firstOf(name.map(findNamed)),
    );
  };
  return {
    find,
    default: chosen,
    async problems(names) {
      const all = names.flatMap((name): readonly (string | undefined)[] =>
        Array.isArray(name) ? name : [name as string | undefined],
      );
      const tried = await Promise.allSettled([...new Set(all)].map(find));
      const failed = tried.flatMap((one) => (one.status === 'rejected' ? [String(one.reason?.message)] : []));
      const { problem } = await chosen;
      return problem === undefined ? failed : [problem, ...failed];
    },
  };
}

/** The first of a list that can be found. Throws the first error if none can. */
async function firstOf(finding: readonly Promise<LanguageModelV4>[]): Promise<LanguageModelV4> {
  const found = await Promise.allSettled(finding);
  const [first] = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (first !== undefined) return first;
  throw (found[0] as PromiseRejectedResult).reason;
}

async function findReader(name: string, options: ModelOptions): Promise<LanguageModelV4> {
  const found = liftModel(await findModel(name, options));
  const model = options.tapModel?.(found) ?? found;
  return options.files === undefined ? model : withFiles(name, model, options.files);
}

async function findModel(name: string, { models, modelUrl, env }: ModelOptions): Promise<LanguageModelV4> {
  if (Object.hasOwn(models, name)) return models[name] as LanguageModelV4;
  if (name === 'rehearsal') return rehearsalModel();
  const [provider = '', ...rest] = name.split('/');
  const model = rest.join('/');
  if (provider === 'openai-compatible' && model !== '') return await openAiCompatible(model, { modelUrl, env });
  const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  if (known === undefined || model === '') throw unknownModel(name);
  const apiKey = keyOf(known, { name, env });
  const create = (await loadProvider(known.module, name))[known.create] as (
    settings: object,
  ) => (id: string) => LanguageModelV4;
  return create({ apiKey })(model);
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
  const { createOpenAICompatible } = (await loadProvider('@ai-sdk/openai-compatible', model)) as {
    createOpenAICompatible(settings: object): (id: string) => LanguageModelV4;
  };
  const apiKey = env.LASTCALL_MODEL_KEY ?? env.OPENAI_API_KEY;
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: modelUrl,
    // Without this option, servers of this protocol do not count the tokens of a streamed reply.
    includeUsage: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return provider(model);
}

function unknownModel(name: string): LastcallError {
  const known = Object.keys(PROVIDERS).map((provider) => `${provider}/<model>`);
  const list = [...known, 'openai-compatible/<model>', 'rehearsal'].join(', ');
  return new LastcallError('model', `There is no model "${name}". Use ${list}, or one of the configuration's models.`);
}
