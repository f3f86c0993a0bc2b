import { LastcallError } from '@lastcall/core';

/** How to create a provider's models. Its package is loaded when one of its models is first used. */
export interface Provider {
  readonly module: string;
  readonly create: string;
  readonly key: string;
  /** The model that is used if only a key is set. */
  readonly defaultModel: string;
}

export const PROVIDERS: Readonly<Record<string, Provider>> = {
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

/** The provider's key. Throws if the environment has none. */
export function keyOf(
  { key }: Provider,
  { name, env }: { readonly name: string; readonly env: Readonly<Record<string, string | undefined>> },
): string {
  const value = env[key] ?? '';
  if (value === '')
    throw new LastcallError(
      'model',
      `The model "${name}" needs a key: set ${key} in the environment, or write ${key}=… into .env.`,
    );
  return value;
}

/** Loads the package of a provider. */
export async function loadProvider(module: string, model: string): Promise<Record<string, unknown>> {
  try {
    return (await import(module)) as Record<string, unknown>;
  } catch (cause) {
    const message = `The model "${model}" needs the package ${module}, which cannot be loaded: npm install ${module}`;
    throw new LastcallError('model', message, { cause });
  }
}
