import { createRedact, KnownSecrets, secretValues } from '@lastcall/gateway/internal';

/** Removes the secrets of the environment from a text: an error may quote the address of a database. */
export function redactEnv(text: string): string {
  return createRedact(new KnownSecrets(secretValues(process.env, { secretKey: undefined, secrets: [] })))(text);
}
