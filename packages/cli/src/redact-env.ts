import { createRedact, KnownSecrets, secretValues } from '@lastcall/gateway/internal';

/** Removes the environment's secrets from a text: an error may quote a database URL. */
export function redactEnv(text: string): string {
  return createRedact(new KnownSecrets(secretValues(process.env, { secretKey: undefined, secrets: [] })))(text);
}
