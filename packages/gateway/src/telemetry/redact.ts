import { hideFrameIds } from './hide-tag.ts';

/** Returns the text without its secrets. */
export type Redact = (text: string) => string;

const REDACTED = '[redacted]';
// Matches keys, tokens and passwords in URLs: a log outlives the request it is about.
const SECRET_TEXT = /\blc_sk_[\w-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|\bBearer\s+\S+|(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g;
/** A shorter value is a word that occurs in many texts, and not a secret. */
const MIN_SECRET_LENGTH = 8;

/** Removes secrets and frame tags that are recognised by their form, and this process's secrets by their value. */
export function createRedact(secrets: readonly string[] = []): Redact {
  // The longest comes first, because one secret may be the beginning of another.
  const values = secrets
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .sort((one, other) => other.length - one.length);
  return (text) => {
    let safe = hideFrameIds(text.replace(SECRET_TEXT, REDACTED));
    for (const value of values) safe = safe.replaceAll(value, REDACTED);
    return safe;
  };
}

const SECRET_NAME = /(_KEY|_TOKEN|_SECRET|_PASSWORD)$/;

/** The environment's values that are secrets: those that the configuration names, and those whose names suggest it. */
export function secretValues(
  env: Readonly<Record<string, string | undefined>>,
  { secretKey, secrets }: { readonly secretKey: string | undefined; readonly secrets: readonly string[] },
): string[] {
  const named = Object.keys(env).filter((name) => SECRET_NAME.test(name) || secrets.includes(name));
  return [secretKey, ...named.map((name) => env[name])].filter((value) => value !== undefined);
}
