import { loadProvider, PROVIDERS, type Provider } from './provider-package.ts';

/** The model of agents that name none, and why it is that one. */
export interface DefaultModel {
  readonly name: string;
  /** The reason, as a phrase that follows the name. */
  readonly why: string;
  /** Why a better model is not used, with the command that fixes it. */
  readonly problem?: string | undefined;
}

interface Choice {
  readonly model: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Chooses the configured model, else that of the first provider with a key and an installed package, else the rehearsal.
 * A key whose package is missing must not leave the agents without any model.
 */
export async function chooseDefaultModel({ model, env }: Choice): Promise<DefaultModel> {
  if (model !== undefined) return { name: model, why: 'as configured' };
  const keyed = Object.entries(PROVIDERS).filter(([, { key }]) => (env[key] ?? '') !== '');
  for (const [provider, { key, defaultModel, module }] of keyed)
    if (await isInstalled(module)) return { name: `${provider}/${defaultModel}`, why: `${key} is set` };
  const [first] = keyed;
  if (first === undefined) return { name: 'rehearsal', why: 'no key found' };
  return { name: 'rehearsal', why: 'no provider can be used', problem: missingPackage(first[1]) };
}

function missingPackage({ key, module }: Provider): string {
  return `${key} is set, but the package of its provider is missing: npm install ${module}`;
}

async function isInstalled(module: string): Promise<boolean> {
  try {
    await loadProvider(module, module);
    return true;
  } catch {
    return false;
  }
}
