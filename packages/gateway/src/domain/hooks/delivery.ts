import { hash } from 'node:crypto';
import type { HookScheme } from '../../config/hook-config.ts';
import { asPlainText } from '../entities/column-text.ts';
import { invalid } from '../entities/invalid.ts';

export type HookBody = Readonly<Record<string, unknown>>;

/** What a genuine request is. */
export type Delivery =
  /** Slack asks whether the address is right, and reads its challenge back. */
  | { readonly kind: 'challenge'; readonly challenge: string }
  /** GitHub tells that the hook was created. */
  | { readonly kind: 'ping' }
  | HookEvent;

export interface HookEvent {
  readonly kind: 'event';
  /** The service's own id: equal for every repetition. */
  readonly id: string;
  readonly name: string;
  readonly data: HookBody;
}

interface Received {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly body: HookBody;
}

export function deliveryOf(scheme: HookScheme, received: Received): Delivery {
  return READERS[scheme](received);
}

const READERS: Readonly<Record<HookScheme, (received: Received) => Delivery>> = {
  standard: ({ headers, body }) => event(headers.get('webhook-id'), body.type, body),
  github({ headers, body }) {
    const name = headers.get('x-github-event');
    return name === 'ping' ? { kind: 'ping' } : event(headers.get('x-github-delivery'), name, body);
  },
  stripe: ({ body }) => event(body.id, body.type, body),
  slack({ headers, bytes, body }) {
    // The token is an old way to tell that Slack is the sender: agents must not read it.
    const { token: _token, ...data } = body;
    const { type, challenge, event_id: id, event: inner } = data as SlackBody;
    if (type === 'url_verification' && typeof challenge === 'string')
      return { kind: 'challenge', challenge: asPlainText(challenge, 1_000) };
    const name = type === 'event_callback' && typeof inner === 'object' ? inner?.type : type;
    // Only events of a workspace have an id. For others, the time and the text make the id.
    const own = `${headers.get('x-slack-request-timestamp')}:${hash('sha256', bytes)}`;
    return event(id ?? own, name, data);
  },
};

interface SlackBody {
  readonly type?: unknown;
  readonly challenge?: unknown;
  readonly event_id?: unknown;
  readonly event?: { readonly type?: unknown } | null;
}

function event(id: unknown, name: unknown, data: HookBody): HookEvent {
  if (typeof id !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(id))
    throw invalid('The id of the event', 'must be 1–128 characters of ASCII without spaces.');
  const shown = typeof name === 'string' ? asPlainText(name, 200).trim() : '';
  return { kind: 'event', id, name: shown === '' ? 'event' : shown, data };
}

/** What must be equal in every repetition of an event. Stripe counts the hooks that have not answered yet in the event itself. */
export function comparable(scheme: HookScheme, data: HookBody | undefined): HookBody {
  if (scheme !== 'stripe') return data ?? {};
  const { pending_webhooks: _pending, ...rest } = data ?? {};
  return rest;
}
