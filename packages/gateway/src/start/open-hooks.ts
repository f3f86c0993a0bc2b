import { ConfigError } from '../config/config-error.ts';
import { envNameOf, type HookConfig, type HooksConfig } from '../config/hook-config.ts';
import type { Hook, Hooks } from '../domain/hooks/hook.ts';
import type { Secrets } from '../telemetry/secrets.ts';

/** Reads the secrets of the hooks. Throws a ConfigError for one that is missing or could be guessed: such a hook cannot work. */
export function openHooks(hooks: HooksConfig, secrets: Secrets): Hooks {
  return new Map(Object.entries(hooks).map(([name, hook]) => [name, openHook(name, hook, secrets)]));
}

function openHook(name: string, { agent, verify, secret, answers }: HookConfig, secrets: Secrets): Hook {
  const values = [secret].flat().map((template) => {
    const variable = envNameOf(template);
    const value = readOrUndefined(secrets, variable);
    const message = `is needed by hooks.${name}.secret, and must have ${SHORTEST} characters or more${
      verify === 'standard' ? ' (after "whsec_": base64 of as many bytes)' : ''
    }.`;
    if (value === undefined || keyLength(verify, value) < SHORTEST)
      throw new ConfigError('environment', [{ path: variable, message }]);
    return value;
  });
  return { name, agent, verify, secrets: values, answers };
}

/** With a shorter one, a person who has seen one request can find out the secret. */
const SHORTEST = 16;

function readOrUndefined(secrets: Secrets, name: string): string | undefined {
  try {
    return secrets.read(name);
  } catch {
    return undefined;
  }
}

/** Secrets of Stripe begin with "whsec_" too, and are used as they are. */
function keyLength(verify: HookConfig['verify'], value: string): number {
  const isEncoded = verify === 'standard' && value.startsWith('whsec_');
  return isEncoded ? Buffer.from(value.slice('whsec_'.length), 'base64').length : value.length;
}
