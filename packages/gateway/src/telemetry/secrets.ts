import { LastcallError } from '@lastcall/core';
import type { KnownSecrets } from './known-secrets.ts';
import { SHORTEST_SECRET } from './redact.ts';

/** The secrets that `${env.NAME}` may read. */
export interface Secrets {
  /** The current value. Throws for a name that is not on the list, is not set, or could not be kept secret. */
  read(name: string): string;
  /** The values that were read, to remove them from texts. */
  readonly known: KnownSecrets;
}

/** Reads the environment variables that the gateway's `secrets` list names. */
export function createSecrets(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly names: readonly string[];
  readonly known: KnownSecrets;
}): Secrets {
  const { env, names, known } = options;
  return {
    known,
    read(name) {
      if (!names.includes(name)) throw refused(name, 'is not on the list "secrets" of the configuration');
      const value = env[name];
      if (value === undefined || value === '') throw refused(name, 'is not set in the environment of the gateway');
      if (value.length < SHORTEST_SECRET)
        throw refused(name, `has fewer than ${SHORTEST_SECRET} characters, too few to be kept out of results`);
      known.add(value);
      return value;
    },
  };
}

function refused(name: string, why: string): LastcallError {
  return new LastcallError('secret', `\${env.${name}} cannot be used: ${name} ${why}. Nothing was sent.`);
}
