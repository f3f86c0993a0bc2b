import { signWebhook } from '../../domain/calls/webhook-signature.ts';
import type { Notice } from '../../domain/notify/notice.ts';
import type { NotifyChannel } from '../../domain/notify/notify-target.ts';
import type { Egress } from '../../ports/egress/egress.ts';
import { retryAfterMs } from '../tools/http/retry-after.ts';
import { SendFailure } from './send-failure.ts';
import { toSlackMessage } from './slack-message.ts';

type Channel<K> = Extract<NotifyChannel, { readonly kind: K }>;

interface Sending {
  readonly egress: Egress;
  readonly signal: AbortSignal;
}

/** The id of the notification is that of the webhook: receivers drop repetitions by it. */
export async function sendWebhook(
  sending: Sending,
  { url, secrets }: Channel<'webhook'>,
  notice: Notice,
): Promise<void> {
  const { id, event, project, title, link, data } = notice;
  const body = JSON.stringify({ type: event, id, timestamp: new Date().toISOString(), project, title, ...data, link });
  await post(sending, url, body, signWebhook({ id, body, secrets }));
}

export async function sendSlack(sending: Sending, { url }: Channel<'slack'>, notice: Notice): Promise<void> {
  await post(sending, url, JSON.stringify(toSlackMessage(notice)), {});
}

async function post(
  { egress, signal }: Sending,
  url: string,
  body: string,
  signature: Readonly<Record<string, string>>,
): Promise<void> {
  const headers = { 'content-type': 'application/json', ...signature };
  // A redirect could lead into the inside, and would carry the message elsewhere than the configuration says.
  const response = await egress.request({ url, method: 'POST', headers, body, signal, redirect: 'error' });
  // The body of the response is not needed, and might never end.
  response.body.on('error', () => {}).destroy();
  const { status } = response;
  if (status >= 200 && status <= 299) return;
  const [retryAfter] = [response.headers['retry-after']].flat();
  throw new SendFailure(`It answered HTTP ${status}.`, { retryAfterMs: retryAfterMs(retryAfter) });
}
