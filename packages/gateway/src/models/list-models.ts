import type { ModelFinder } from './find-model.ts';
import { PROVIDERS } from './provider-package.ts';

/** A model that agents may name, and whether it works here. */
export interface ListedModel {
  readonly name: string;
  readonly usable: boolean;
  /** What is missing, with the command that fixes it. */
  readonly why?: string;
}

/**
 * Lists the default first, then the models of the configuration, one of each provider, and the rehearsal. It sends nothing over
 * the network.
 */
export async function listModels(finder: ModelFinder, configured: readonly string[]): Promise<readonly ListedModel[]> {
  const { name } = await finder.default;
  const ofProviders = Object.entries(PROVIDERS).map(([provider, { defaultModel }]) => `${provider}/${defaultModel}`);
  const names = [...new Set([name, ...configured, ...ofProviders, 'rehearsal'])];
  return await Promise.all(names.map((one) => tryModel(finder, one)));
}

async function tryModel({ find }: ModelFinder, name: string): Promise<ListedModel> {
  try {
    await find(name);
    return { name, usable: true };
  } catch (error) {
    return { name, usable: false, why: (error as Error).message };
  }
}

/** Explains how to replace the rehearsal with a real model. */
export function howToSetModel(): string {
  const [first] = Object.values(PROVIDERS);
  const keys = Object.values(PROVIDERS).map(({ key }) => key);
  return `Set ${keys.slice(0, -1).join(', ')} or ${keys.at(-1)} in the environment or in .env, install the package of the provider (e.g. npm install ${first?.module}), and start again.`;
}
