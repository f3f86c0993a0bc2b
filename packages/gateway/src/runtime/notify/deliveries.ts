import type { NotifyTarget, OpenTargets } from '../../domain/notify/notify-target.ts';
import { planNotifications } from '../../domain/notify/plan-notifications.ts';
import { type NoticeContext, type ReadNotice, readNotice } from '../../domain/notify/read-notice.ts';
import { type AttemptEnd, endAttempt, returnAttempt, takeDue } from '../../domain/notify/take-due.ts';
import type { Egress } from '../../ports/egress/egress.ts';
import type { Services } from '../../ports/services.ts';
import type { NotificationRow } from '../../ports/store/schema/tables.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { atMost } from '../tools/at-most.ts';
import { SendFailure, toSendFailure } from './send-failure.ts';
import { sendSlack, sendWebhook } from './send-http.ts';
import { sendMail } from './send-mail.ts';

/** How many notifications one gateway sends to one target in parallel. */
const BATCH_SIZE = 5;
const TIMEOUT_MS = 10_000;
/** How long a stop waits for the store to learn how the last attempts ended. */
const STOP_MS = 5_000;

export interface DeliveriesOptions extends Omit<NoticeContext, 'baseUrl'> {
  readonly targets: OpenTargets;
  readonly egress: Egress;
  readonly metrics?: Metrics | undefined;
  /** Known once the gateway listens. */
  readonly baseUrl: () => string;
  /** How long one attempt may take. Default 10,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Sends notifications. Each target has its own loop, so that one that is slow or down delays neither the others nor anything else of the
 * gateway.
 */
export class Deliveries {
  readonly #services: Pick<Services, 'store' | 'logger'>;
  readonly #options: DeliveriesOptions;
  readonly #timeoutMs: number;
  readonly #stopping = new AbortController();
  /** The loops under way, by target. */
  readonly #loops = new Map<string, Promise<void>>();

  constructor(services: Pick<Services, 'store' | 'logger'>, options: DeliveriesOptions) {
    this.#services = services;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  /** Called by a sweep. It plans what is due and starts the loops of targets that have something to send, without waiting for them. */
  async tick(): Promise<void> {
    const { targets } = this.#options;
    if (targets.size === 0 || this.#stopping.signal.aborted) return;
    await planNotifications(this.#services, targets);
    for (const target of await this.#dueTargets()) {
      const loop = this.#loop(target).finally(() => this.#loops.delete(target.name));
      this.#loops.set(target.name, loop);
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

  async #dueTargets(): Promise<readonly NotifyTarget[]> {
    const idle = [...this.#options.targets.values()].filter(({ name }) => !this.#loops.has(name));
    if (idle.length === 0) return [];
    const names = idle.map(({ name }) => name);
    const due = await this.#services.store.transaction((tx) =>
      tx.db
        .selectFrom('notifications')
        .select('target')
        .distinct()
        .where('target', 'in', names)
        .where('next_at', '<=', tx.now())
        .execute(),
    );
    return idle.filter(({ name }) => due.some(({ target }) => target === name));
  }

  async #loop(target: NotifyTarget): Promise<void> {
    const { store, logger } = this.#services;
    const taking = { target: target.name, limit: BATCH_SIZE, timeoutMs: this.#timeoutMs };
    try {
      while (!this.#stopping.signal.aborted) {
        const rows = await store.transaction((tx) => takeDue(tx, taking));
        const ends = await Promise.all(rows.map((row) => this.#attempt(target, row)));
        // A target that is down is left alone until the next sweep.
        if (rows.length < BATCH_SIZE || ends.every(({ kind }) => kind === 'failed')) return;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        logger.error(`Notifications to ${target.name} could not be sent.`, error);
    }
  }

  async #attempt(target: NotifyTarget, row: NotificationRow): Promise<AttemptEnd> {
    const { store } = this.#services;
    const end = await this.#send(target, row);
    if (end.kind === 'failed' && this.#stopping.signal.aborted) {
      await store.transaction((tx) => returnAttempt(tx, row));
      return end;
    }
    const isOver = await store.transaction((tx) => endAttempt(tx, row, end));
    this.#tell(target, row, end, isOver);
    return end;
  }

  async #send(target: NotifyTarget, row: NotificationRow): Promise<AttemptEnd> {
    const { store } = this.#services;
    const { baseUrl, ...context } = this.#options;
    const read = await readNotice(store.db, row, target, { ...context, baseUrl: baseUrl() });
    if (read === undefined) return { kind: 'obsolete' };
    try {
      // It was given up, and then sent again by hand.
      if (typeof target.recipient === 'object' && row.entity_id === null && row.event !== 'test')
        throw new SendFailure('The person of the target does not exist.');
      await this.#sendTo(target, read);
      return { kind: 'sent' };
    } catch (error) {
      const { message, retryAfterMs } = toSendFailure(error, { timeoutMs: this.#timeoutMs });
      return { kind: 'failed', error: message, retryAfterMs };
    }
  }

  async #sendTo({ channel }: NotifyTarget, { notice, address }: ReadNotice): Promise<void> {
    const { egress } = this.#options;
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(this.#timeoutMs)]);
    if (channel.kind === 'webhook') return await sendWebhook({ egress, signal }, channel, notice);
    if (channel.kind === 'slack') return await sendSlack({ egress, signal }, channel, notice);
    const to = channel.to ?? address;
    if (to === undefined) throw new SendFailure('The person has no e-mail address (metadata.email).');
    await sendMail({ egress, signal, timeoutMs: this.#timeoutMs }, { channel, notice, to });
  }

  #tell({ name, channel }: NotifyTarget, { id, attempts }: NotificationRow, end: AttemptEnd, isOver: boolean): void {
    const outcome = end.kind === 'failed' && !isOver ? 'retried' : end.kind;
    this.#options.metrics?.notification({ channel: channel.kind, outcome });
    if (end.kind !== 'failed') return;
    const what = isOver ? 'is given up' : 'is tried again';
    this.#services.logger.warn(`Notification ${id} to ${name} failed (attempt ${attempts}) and ${what}.`, {
      reason: end.error,
    });
  }
}
