import { NOTIFY_EVENTS } from '../../src/config/notify-config.ts';
import type { OpenedWait } from '../../src/domain/calls/open-wait.ts';
import { newId } from '../../src/domain/new-id.ts';
import type { NotifyChannel, NotifyTarget } from '../../src/domain/notify/notify-target.ts';
import { createEgress, type EgressOptions } from '../../src/ports/egress/egress.ts';
import type { NotificationRow } from '../../src/ports/store/schema/tables.ts';
import { Deliveries } from '../../src/runtime/notify/deliveries.ts';
import { createRedact } from '../../src/telemetry/redact.ts';
import { openWaiting } from '../calls/open-waiting.ts';
import type { World } from '../support/world.ts';

export const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const LINK_SECRET: Uint8Array = new Uint8Array(32).fill(7);
export const BASE_URL = 'https://lastcall.example';

export function webhookTo(url: string): NotifyChannel {
  return { kind: 'webhook', url, secrets: [KEY] };
}

export function targetTo(channel: NotifyChannel, more: Partial<NotifyTarget> = {}): NotifyTarget {
  return {
    name: 'ops',
    project: 'default',
    events: NOTIFY_EVENTS,
    agents: undefined,
    recipient: undefined,
    includesInput: false,
    linkMs: 3_600_000,
    channel,
    ...more,
  };
}

interface Sending extends AsyncDisposable {
  readonly deliveries: Deliveries;
  /** Plans and sends everything that is due. */
  send(): Promise<void>;
}

/** The delivery of notifications by one gateway. */
export function deliver(
  { services }: Pick<World, 'services'>,
  targets: readonly NotifyTarget[],
  { timeoutMs, ...egressOptions }: EgressOptions & { readonly timeoutMs?: number } = {},
): Sending {
  const egress = createEgress(egressOptions);
  const deliveries = new Deliveries(services, {
    targets: new Map(targets.map((target) => [target.name, target])),
    egress,
    redact: createRedact(),
    linkSecret: LINK_SECRET,
    baseUrl: () => BASE_URL,
    timeoutMs,
  });
  return {
    deliveries,
    async send() {
      await deliveries.tick();
      await deliveries.idle();
    },
    async [Symbol.asyncDispose]() {
      await deliveries.stop();
      await egress.close();
    },
  };
}

/** A call that waits for approval. Its run is not stored, because only the ids matter. */
export async function openCall(world: World, agentId: string, more: Partial<OpenedWait> = {}): Promise<string> {
  const callId = newId();
  await world.in((tx) =>
    openWaiting(tx, {
      ...{ callId, agentId, runId: newId(), toolName: 'send_money', kind: 'approval', input: { amount: 5 } },
      ...more,
    }),
  );
  return callId;
}

export async function rowsOf(world: World, where: { readonly callId: string } | { readonly target: string }) {
  const rows = world.store.db.selectFrom('notifications').selectAll().orderBy('id');
  const wanted = 'callId' in where ? rows.where('call_id', '=', where.callId) : rows.where('target', '=', where.target);
  return (await wanted.execute()) as readonly NotificationRow[];
}

/** Makes the next attempt of all waiting notifications due at once. */
export async function makeDue(world: World): Promise<void> {
  await world.in((tx) =>
    tx.db.updateTable('notifications').set({ next_at: 1 }).where('next_at', 'is not', null).execute(),
  );
}
