import { ConfigError } from '../config/config-error.ts';
import { SHORTEST_SECRET } from '../telemetry/redact.ts';
import type { Secrets } from '../telemetry/secrets.ts';

/** Reads a secret at the start. Throws a ConfigError that names its variable if what needs it could not work. */
export function readSecret(
  secrets: Secrets,
  {
    variable,
    path,
    shortest = SHORTEST_SECRET,
  }: { readonly variable: string; readonly path: string; readonly shortest?: number },
): string {
  const message = `is needed by ${path}, and must have ${shortest} characters or more.`;
  const missing = new ConfigError('environment', [{ path: variable, message }]);
  let value: string;
  try {
    value = secrets.read(variable);
  } catch {
    throw missing;
  }
  if (value.length < shortest) throw missing;
  return value;
}
