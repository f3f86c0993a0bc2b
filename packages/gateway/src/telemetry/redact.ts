import { KnownSecrets, REDACTED } from './known-secrets.ts';

/** Returns the text without its secrets. */
export type Redact = (text: string) => string;

// Matches keys, tokens and passwords in URLs: a log outlives the request it is about. People and models choose the text, so the time
// must grow only with its length: a token is searched for once in each word, and only in a word that two more parts follow.
const SECRET_TEXT =
  /\blc_sk_[\w-]{8,}|(?<![\w-])(?=[\w-]+\.[\w-]+\.)(?<before>[\w-]*?)\beyJ[\w-]+\.[\w-]+\.[\w-]*|\bBearer\s+\S+|(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g;

// A provider's package may throw outside of any request, with the prompt in its message. Errors of requests pass guard-model.ts.
const FRAME_NAME = /\b(inbox|situation|summary|transcript|caller)-(?:[0-9a-f]{24}|9[a-z2-7]{10}|q\d{12}(?:\d{3})?)\b/gi;

/** Removes secrets and frame tags that are recognised by their form, and this process's secrets by their value. */
export function createRedact(secrets: KnownSecrets = new KnownSecrets()): Redact {
  return (text) =>
    secrets.removeFrom(text.replace(SECRET_TEXT, `$<before>${REDACTED}`).replace(FRAME_NAME, '$1-hidden'));
}

const SECRET_NAME = /(_KEY|_TOKEN|_SECRET|_PASSWORD)$/;
/** A shorter value of a variable that is only named like a secret is too likely to be an ordinary word. */
const SHORTEST_GUESSED = 8;

/** The environment's values that are secrets: those that the configuration names, and those whose names suggest it. */
export function secretValues(
  env: Readonly<Record<string, string | undefined>>,
  { secretKey, secrets }: { readonly secretKey: string | undefined; readonly secrets: readonly string[] },
): string[] {
  const guessed = Object.keys(env).filter((name) => SECRET_NAME.test(name) && !secrets.includes(name));
  return [
    ...[secretKey, ...guessed.map((name) => env[name])].filter((value) => isAtLeast(value, SHORTEST_GUESSED)),
    ...secrets.map((name) => env[name]).filter((value) => isAtLeast(value, SHORTEST_SECRET)),
  ];
}

/** Shorter secrets are refused, because they could not be told from other text: see `Secrets`. */
export const SHORTEST_SECRET = 4;

function isAtLeast(value: string | undefined, length: number): value is string {
  return value !== undefined && value.length >= length;
}
