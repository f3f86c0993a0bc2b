import { hideFrameIds } from './hide-tag.ts';

/** Gives a text without the secrets in it. */
export type Redact = (text: string) => string;

const REDACTED = '[redacted]';
// Keys, tokens and the password of a URL, wherever they stand: a log outlives the request it tells of.
const SECRET_TEXT = /\blc_sk_[\w-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|\bBearer\s+\S+|(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g;
/** What is shorter is a word that stands in many texts, and no secret. */
const SHORTEST = 8;

/** Strikes out secrets and the ids of agents' frames by their form, and those of this process by their value. */
export function createRedact(secrets: readonly string[] = []): Redact {
  // The longest first: one may be the beginning of another.
  const values = secrets.filter(({ length }) => length >= SHORTEST).sort((one, other) => other.length - one.length);
  return (text) => {
    let safe = hideFrameIds(text.replace(SECRET_TEXT, REDACTED));
    for (const value of values) safe = safe.replaceAll(value, REDACTED);
    return safe;
  };
}

const SECRET_NAME = /(_KEY|_TOKEN|_SECRET|_PASSWORD)$/;

/** Values of the environment that are secrets: those that the configuration names, and those whose names say so. */
export function secretsOf(
  env: Readonly<Record<string, string | undefined>>,
  { secretKey, secrets }: { readonly secretKey: string | undefined; readonly secrets: readonly string[] },
): string[] {
  const named = Object.keys(env).filter((name) => SECRET_NAME.test(name) || secrets.includes(name));
  return [secretKey, ...named.map((name) => env[name])].filter((value) => value !== undefined);
}
