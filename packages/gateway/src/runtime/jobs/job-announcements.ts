import { backoffMs } from '@lastcall/core/internal';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { JobWebhook } from '../../config/job-webhook.ts';
import { type JobOffer, toOffer } from '../../domain/calls/job-events.ts';
import { toWaitingCall } from '../../domain/calls/waiting-call.ts';
import { signWebhook } from '../../domain/calls/webhook-signature.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { atMost } from '../tools/at-most.ts';
import type { Outgoing } from '../tools/http/http-tool.ts';

/** How many webhooks of one agent a gateway sends in parallel. */
const BATCH_SIZE = 20;
/** A gateway sends to the webhooks of so many agents in parallel. Others wait only if the webhooks of all of these hang. */
const MOST_AGENTS = 100;
const TIMEOUT_MS = 10_000;
/** How long a stop waits for the store to learn how the last attempts ended. */
const STOP_MS = 5_000;
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
 * once, with the same id. Each agent has its own loop, so that a webhook that is slow or down delays no other agent.
 */
export class JobAnnouncements {
  readonly #services: Services;
  readonly #outgoing: Outgoing;
  readonly #stopping = new AbortController();
  /** The loops under way, by the id of the agent. */
  readonly #loops = new Map<string, Promise<void>>();

  constructor(services: Services, outgoing: Outgoing) {
    this.#services = services;
    this.#outgoing = outgoing;
  }

  /** Called by a sweep. It starts the loops of agents whose jobs are due, without waiting for them. */
  async tick(): Promise<void> {
    while (!this.#stopping.signal.aborted && this.#loops.size < MOST_AGENTS) {
      const { taken, announcements } = await this.#take({ except: [...this.#loops.keys()] });
      for (const [agentId, batch] of Map.groupBy(announcements, ({ offer }) => offer.agentId)) {
        const loop = this.#loop(agentId, batch).finally(() => this.#loops.delete(agentId));
        this.#loops.set(agentId, loop);
      }
      if (taken < BATCH_SIZE) return;
    }
  }

  /** Resolves when the loops that are under way have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#loops.values());
  }

  /** Breaks attempts off. Another gateway, or the next start, makes them again. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The gateway stops.'));
    await atMost(STOP_MS, this.idle());
  }

  async #loop(agentId: string, first: readonly Announcement[]): Promise<void> {
    try {
      for (let batch = first; batch.length > 0; batch = (await this.#take({ agentId })).announcements) {
        const sent = await Promise.allSettled(batch.map((one) => this.#announce(one)));
        for (const one of sent) if (one.status === 'rejected') throw one.reason;
        if (this.#stopping.signal.aborted) return;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.#services.logger.error(`Jobs of agent ${agentId} could not be announced.`, error);
    }
  }

  async #take(whose: Whose): Promise<Taken> {
    return await this.#services.store.transaction((tx) => takeDue(tx, whose));
  }

  async #announce(announcement: Announcement): Promise<void> {
    const { offer, number, attempt, webhook } = announcement;
    try {
      await send(this.#outgoing, announcement, this.#stopping.signal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const known = this.#outgoing.secrets.known.removeFrom(String((error as Error).message));
      const message = `Job ${offer.callId} could not be announced to the webhook of agent ${offer.agentId} (attempt ${attempt} of ${MOST_ATTEMPTS}).`;
      this.#services.logger.warn(message, { host: new URL(webhook.url).host, reason: known });
      return;
    }
    // Not updated if the job was offered again in the meantime: that is another announcement.
    await this.#services.store.transaction((tx) =>
      tx.db
        .updateTable('calls')
        .set({ announce_at: null })
        .where('id', '=', offer.callId)
        .where('offers', '=', number)
        .execute(),
    );
  }
}

interface Taken {
  readonly taken: number;
  readonly announcements: readonly Announcement[];
}

/** Selects the jobs of one agent, or of all agents except some. */
type Whose = { readonly agentId: string } | { readonly except: readonly string[] };

async function takeDue(tx: Tx, whose: Whose): Promise<Taken> {
  const now = tx.now();
  const due = tx.db.selectFrom('calls').selectAll().where('announce_at', '<=', now);
  const rows = await ('agentId' in whose
    ? due.where('agent_id', '=', whose.agentId)
    : due.$if(whose.except.length > 0, (all) => all.where('agent_id', 'not in', [...whose.except]))
  )
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

async function send(
  { egress, secrets }: Outgoing,
  { offer, number, webhook: { url, signingSecret } }: Announcement,
  stopping: AbortSignal,
): Promise<void> {
  const body = JSON.stringify({ type: 'job.available', ...offer });
  const keys = [signingSecret].flat().map((text) => secrets.read(text.slice('${env.'.length, -1)));
  const signature = signWebhook({ id: `${offer.callId}:${number}`, body, secrets: keys });
  const response = await egress.request({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signature },
    body,
    signal: AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]),
    redirect: 'error',
  });
  // The body of the response is not needed, and might never end.
  response.body.on('error', () => {}).destroy();
  if (response.status < 200 || response.status > 299) throw new Error(`It answered HTTP ${response.status}.`);
}
