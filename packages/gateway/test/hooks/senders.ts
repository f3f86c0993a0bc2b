import { createHmac, randomUUID } from 'node:crypto';

/**
 * The services according to their documentation, without any code of the gateway: what each signs, and in which headers it sends the
 * signature.
 */
export type Scheme = 'standard' | 'github' | 'stripe' | 'slack';

export const SCHEMES: readonly Scheme[] = ['standard', 'github', 'stripe', 'slack'];

/** The same text is the key of three of them. Standard Webhooks has the base64 of the key after `whsec_`. */
export const SECRETS: Readonly<Record<Scheme, string>> = {
  standard: `whsec_${Buffer.from('a key of twenty-four byte').toString('base64')}`,
  github: "It's a Secret to Everybody",
  stripe: 'whsec_a-signing-secret-of-stripe',
  slack: '8f742231b10e8888abcd99yyyzzz85a5',
};

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

interface ToSend {
  readonly id?: string;
  /** Seconds. */
  readonly time?: number;
  readonly secret?: string;
  /** Default: an event of the service, with the id. */
  readonly body?: object | Uint8Array;
  readonly event?: string;
}

const hex = (secret: string, ...parts: (string | Uint8Array)[]): string => hmac(secret, parts).digest('hex');

function hmac(key: string | Uint8Array, parts: readonly (string | Uint8Array)[]) {
  return createHmac('sha256', key).update(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
}

/** An event with an id, as the service sends it. */
export function bodyOf(scheme: Scheme, id: string, more: object = {}): object {
  switch (scheme) {
    case 'standard':
      return { type: 'order.paid', timestamp: '2026-01-01T00:00:00Z', data: { order: 7 }, ...more };
    case 'github':
      return { action: 'opened', issue: { number: 7, title: 'It does not start.' }, ...more };
    case 'stripe':
      return {
        id,
        object: 'event',
        type: 'invoice.paid',
        pending_webhooks: 1,
        data: { object: { total: 7 } },
        ...more,
      };
    case 'slack':
      return {
        token: 'verification-token-of-slack',
        type: 'event_callback',
        event_id: id,
        event: { type: 'app_mention', text: 'Hello.' },
        ...more,
      };
  }
}

/** A signed request. */
export function send(scheme: Scheme, given: ToSend = {}): Sent {
  const {
    id = randomUUID(),
    time = Math.floor(Date.now() / 1_000),
    secret = SECRETS[scheme],
    event = 'issues',
  } = given;
  const content = given.body ?? bodyOf(scheme, id);
  const body = new Uint8Array(content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content)));
  const json = { 'content-type': 'application/json' };
  switch (scheme) {
    case 'standard': {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      const signature = hmac(key, [`${id}.${time}.`, body]).digest('base64');
      const headers = { 'webhook-id': id, 'webhook-timestamp': `${time}`, 'webhook-signature': `v1,${signature}` };
      return { headers: { ...json, ...headers }, body };
    }
    case 'github': {
      const signature = `sha256=${hex(secret, body)}`;
      const headers = { 'x-hub-signature-256': signature, 'x-github-event': event, 'x-github-delivery': id };
      return { headers: { ...json, ...headers }, body };
    }
    case 'stripe': {
      const signature = `t=${time},v1=${hex(secret, `${time}.`, body)},v0=${'0'.repeat(64)}`;
      return { headers: { ...json, 'stripe-signature': signature }, body };
    }
    case 'slack': {
      const signature = `v0=${hex(secret, `v0:${time}:`, body)}`;
      return { headers: { ...json, 'x-slack-signature': signature, 'x-slack-request-timestamp': `${time}` }, body };
    }
  }
}

/** The configuration with a hook of each service, under its name. */
export const hookConfig = {
  agents: [{ name: 'Clerk', instructions: 'Read events.' }],
  hooks: Object.fromEntries(
    SCHEMES.map((verify) => [verify, { agent: 'Clerk', verify, secret: `\${env.HOOK_${verify}}` }]),
  ),
  secrets: SCHEMES.map((scheme) => `HOOK_${scheme}`),
  env: Object.fromEntries(SCHEMES.map((scheme) => [`HOOK_${scheme}`, SECRETS[scheme]])),
};

/** Sends it to the gateway, without a key. */
export async function post(
  url: string,
  name: string,
  { headers, body }: Sent,
): Promise<{ status: number; headers: Headers; text: string; json: ReturnType<typeof JSON.parse> }> {
  const answer = await fetch(`${url}/hooks/${name}`, { method: 'POST', headers, body });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) };
}
