import { backoffMs } from '@lastcall/core/internal';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { JobWebhook } from '../../config/job-webhook.ts';
import { type JobOffer, toOffer } from '../../domain/calls/job-events.ts';
import { toWaitingCall } from '../../domain/calls/waiting-call.ts';
import { signWebhook } from '../../domain/calls/webhook-signature.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Outgoing } from '../tools/http/http-tool.ts';

/** How many webhooks one gateway sends in parallel. */
const BATCH_SIZE = 20;
const TIMEOUT_MS = 10_000;
/**
 * The last attempt is about ten minutes after the first. A worker that missed all of them finds the job in the list.
 */
const MOST_ATTEMPTS = 10;

/** One request to a webhook. */
interface Announcement {
  readonly offer: JobOffer;
  /** The number of the job's offer. */
  readonly number: number;
  readonly attempt: number;
  readonly webhook: JobWebhook;
}

/**
 * Sends the announcements that are due to the agents' webhooks. An attempt is stored before it is made, so that two
 * gateways do not both make it, and an attempt of a gateway that died is repeated: announcements are delivered at least
 * once, with the same id.
 */
export async function announceJobs(services: Services, outgoing: Outgoing): Promise<void> {
  for (;;) {
    const { taken, announcements } = await services.store.transaction((tx) => takeDue(tx));
    await Promise.all(announcements.map((one) => announce(services, outgoing, one)));
    if (taken < BATCH_SIZE) return;
  }
}

async function takeDue(tx: Tx): Promise<{ taken: number; announcements: readonly Announcement[] }> {
  const now = tx.now();
  const rows = await tx.db
    .selectFrom('calls')
    .selectAll()
    .where('announce_at', '<=', now)
    .orderBy('announce_at')
    .limit(BATCH_SIZE)
    .forUpdate()
    .skipLocked()
    .execute();
  const webhooks = await webhooksOf(tx, [...new Set(rows.map(({ agent_id }) => agent_id))]);
  const announcements: Announcement[] = [];
  for (const row of rows) {
    const webhook = row.wait_status === 'pending' ? webhooks.get(row.agent_id) : undefined;
    const attempt = row.announce_attempts + 1;
    const isLast = webhook === undefined || attempt > MOST_ATTEMPTS;
    const nextAt = now + TIMEOUT_MS + backoffMs(attempt, { firstMs: 1_000 });
    await tx.db
      .updateTable('calls')
      .set({ announce_at: isLast ? null : nextAt, announce_attempts: attempt })
      .where('id', '=', row.id)
      .execute();
    const offer = toOffer({ ...toWaitingCall(row), claims: row.claims });
    if (!isLast) announcements.push({ offer, number: row.offers, attempt, webhook });
  }
  return { taken: rows.length, announcements };
}

async function webhooksOf(tx: Tx, agentIds: readonly string[]): Promise<ReadonlyMap<string, JobWebhook>> {
  if (agentIds.length === 0) return new Map();
  const agents = await tx.db.selectFrom('agents').select(['id', 'config']).where('id', 'in', agentIds).execute();
  return new Map(
    agents.flatMap(({ id, config }) => {
      const webhook = fromJson<AgentConfig>(config).jobs?.webhook;
      return webhook === undefined ? [] : [[id, webhook] as const];
    }),
  );
}

async function announce(services: Services, outgoing: Outgoing, announcement: Announcement): Promise<void> {
  const { offer, number, attempt, webhook } = announcement;
  try {
    await send(outgoing, announcement);
  } catch (error) {
    const known = outgoing.secrets.known.removeFrom(String((error as Error).message));
    const message = `Job ${offer.callId} could not be announced to the webhook of agent ${offer.agentId} (attempt ${attempt} of ${MOST_ATTEMPTS}).`;
    services.logger.warn(message, { host: new URL(webhook.url).host, reason: known });
    return;
  }
  // Not updated if the job was offered again in the meantime: that is another announcement.
  await services.store.transaction((tx) =>
    tx.db
      .updateTable('calls')
      .set({ announce_at: null })
      .where('id', '=', offer.callId)
      .where('offers', '=', number)
      .execute(),
  );
}

async function send(
  { egress, secrets }: Outgoing,
  { offer, number, webhook: { url, signingSecret } }: Announcement,
): Promise<void> {
  const body = JSON.stringify({ type: 'job.available', ...offer });
  const keys = [signingSecret].flat().map((text) => secrets.read(text.slice('${env.'.length, -1)));
  const signature = signWebhook({ id: `${offer.callId}:${number}`, body, secrets: keys });
  const response = await egress.request({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signature },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  });
  // The body of the response is not needed, and might never end.
  response.body.on('error', () => {}).destroy();
  if (response.status < 200 || response.status > 299) throw new Error(`It answered HTTP ${response.status}.`);
}
