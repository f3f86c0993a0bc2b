import { createHmac, timingSafeEqual } from 'node:crypto';

export interface WebhookToSign {
  /** Equal for every repetition of one message. */
  readonly id: string;
  readonly body: string;
  /** Keys, each `whsec_` and base64, or any other text. While a key is replaced there are two, and both sign the message. */
  readonly secrets: readonly string[];
  /** Milliseconds since the epoch. Default: now. */
  readonly now?: number | undefined;
}

/**
 * The headers of a signed webhook, by the Standard Webhooks specification: each key signs id, time and body, so that a receiver
 * who knows one of the keys can tell who sent it, and when.
 */
export function signWebhook(webhook: WebhookToSign): Record<(typeof HEADER_NAMES)[number], string> {
  const { id, body, secrets, now = Date.now() } = webhook;
  const timestamp = String(Math.floor(now / 1_000));
  const signatures = secrets.map((secret) => `v1,${signature(secret, { id, timestamp, body }).toString('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

export interface WebhookToVerify {
  /** The received headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Exactly the text or the bytes that were received. */
  readonly body: string | Uint8Array;
  /** One of these must have signed it. */
  readonly secrets: readonly string[];
  /** Stores the id and returns whether it is new. Called last, and only for a genuine webhook. */
  readonly isNew: (id: string) => boolean | Promise<boolean>;
  /** Milliseconds since the epoch. Default: now. */
  readonly now?: number | undefined;
}

const TOLERANCE_SECONDS = 300;

export type VerifiedWebhook =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly problem: string };

/**
 * Accepts a webhook that is signed, at most 5 minutes old and received for the first time. For any other it returns what is
 * wrong.
 */
export async function verifyWebhook(webhook: WebhookToVerify): Promise<VerifiedWebhook> {
  const { headers, body, secrets, isNew, now = Date.now() } = webhook;
  const [id, timestamp, signatures] = HEADER_NAMES.map((name) => headers[name]);
  if (typeof id !== 'string' || id === '' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return wrong(`It must have the headers ${HEADER_NAMES.join(', ')}, each once.`);
  // Number() and parseInt() would also take "1e9", " 1 " and "1700000000abc", which were never signed as such.
  if (!/^\d{1,12}$/.test(timestamp)) return wrong('webhook-timestamp must be a number of seconds.');
  if (Math.abs(now / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS)
    return wrong('It is more than 5 minutes old, or from the future.');
  const expected = secrets.map((secret) => signature(secret, { id, timestamp, body }));
  if (!signatures.split(' ').some((one) => isOneOf(one, expected))) return wrong('No known key has signed it.');
  return (await isNew(id)) ? { ok: true, id } : wrong('It has been received before.');
}

const HEADER_NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

function wrong(problem: string): VerifiedWebhook {
  return { ok: false, problem };
}

function isOneOf(text: string, expected: readonly Buffer[]): boolean {
  const [version, encoded = ''] = text.split(',');
  const given = Buffer.from(encoded, 'base64');
  // Every key is compared in constant time, so that the timing reveals nothing about them.
  return (
    version === 'v1' && expected.filter((one) => one.length === given.length && timingSafeEqual(one, given)).length > 0
  );
}

function signature(secret: string, signed: { id: string; timestamp: string; body: string | Uint8Array }): Buffer {
  const { id, timestamp, body } = signed;
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
}

function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}
