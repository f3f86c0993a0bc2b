import type { Kysely, Selectable } from 'kysely';
import type { Services } from '../../ports/services.ts';
import type { CallRow, NotificationRow, NotifyEventRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { newId } from '../new-id.ts';
import { findRecipients } from './find-recipients.ts';
import type { NotifyTarget, OpenTargets } from './notify-target.ts';

const BATCH_SIZE = 50;
/** One notification stands for all failures of an agent in this time. */
const FAILURE_QUIET_MS = 600_000;
/** A call that waits again may have a later end than the event was made for. */
const LATEST_EXPIRY_MS = 3_660_000;

/**
 * Stores one notification for each target and person that an event concerns, and deletes the event in the same transaction. So each event is
 * planned once, although all gateways look for events.
 */
export async function planNotifications({ store }: Pick<Services, 'store'>, targets: OpenTargets): Promise<void> {
  for (;;) {
    const planned = await store.transaction((tx) => planDue(tx, targets));
    if (planned < BATCH_SIZE) return;
  }
}

async function planDue(tx: Tx, targets: OpenTargets): Promise<number> {
  const due = await tx.db
    .selectFrom('notify_events')
    .selectAll()
    .where('due_at', '<=', tx.now())
    .orderBy('due_at')
    .orderBy('id')
    .limit(BATCH_SIZE)
    .forUpdate()
    .skipLocked()
    .execute();
  await lockFailing(tx, due);
  for (const event of due) await planEvent(tx, event, targets);
  const ids = due.map(({ id }) => id);
  if (ids.length > 0) await tx.db.deleteFrom('notify_events').where('id', 'in', ids).execute();
  return due.length;
}

/**
 * One notification stands for several failures of an agent. Without the lock, two gateways that each plan one of them would not see the
 * notification of the other.
 */
async function lockFailing(tx: Tx, due: readonly NotifyEventRow[]): Promise<void> {
  const failing = due.flatMap(({ event, agent_id }) => (event === 'agent.failed' ? [agent_id] : []));
  if (failing.length === 0) return;
  tx.runAlone();
  await tx.db
    .selectFrom('agents')
    .select('id')
    .where('id', 'in', [...new Set(failing)])
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

async function planEvent(tx: Tx, event: NotifyEventRow, targets: OpenTargets): Promise<void> {
  const agent = await tx.db
    .selectFrom('agents')
    .select(['id', 'name', 'project_id'])
    .where('id', '=', event.agent_id)
    .executeTakeFirst();
  const call = event.call_id === null ? undefined : await waitingCall(tx, event);
  if (agent === undefined || (event.call_id !== null && call === undefined)) return;
  for (const target of targets.values()) {
    const recipients = await findRecipients(tx.db, target, { event, agent, call });
    if (recipients.kind === 'no such person') {
      await insert(
        tx,
        { target, event, call },
        { status: 'failed', error: 'The person of the target does not exist.' },
      );
      continue;
    }
    if (recipients.ids.length === 0 || (await wasToldOfFailure(tx, target, event))) continue;
    const isFull = (await countPending(tx.db, target)) >= tx.limits.pendingNotifications;
    const end = isFull
      ? ({ status: 'failed', error: 'Too many notifications wait for the target.' } as const)
      : undefined;
    for (const entityId of recipients.ids) await insert(tx, { target, event, call, entityId }, end);
  }
}

/** Undefined if the call no longer waits for what the event is about. */
async function waitingCall(tx: Tx, event: NotifyEventRow): Promise<Selectable<CallRow> | undefined> {
  const call = await tx.db
    .selectFrom('calls')
    .selectAll()
    .where('id', '=', event.call_id)
    .where('wait_status', '=', 'pending')
    .executeTakeFirst();
  if (call === undefined || call.rounds > event.round) return undefined;
  const { expires_at: expiresAt } = call;
  const now = tx.now();
  if (expiresAt !== null && expiresAt <= now) return undefined;
  const isSoon = expiresAt !== null && expiresAt <= now + LATEST_EXPIRY_MS;
  return event.event === 'call.expiring' && !isSoon ? undefined : call;
}

async function wasToldOfFailure(tx: Tx, target: NotifyTarget, event: NotifyEventRow): Promise<boolean> {
  if (event.event !== 'agent.failed') return false;
  const told = await tx.db
    .selectFrom('notifications')
    .select('id')
    .where('agent_id', '=', event.agent_id)
    .where('event', '=', 'agent.failed')
    .where('created_at', '>', tx.now() - FAILURE_QUIET_MS)
    .where('target', '=', target.name)
    .executeTakeFirst();
  return told !== undefined;
}

async function countPending(db: Kysely<Tables>, { name }: NotifyTarget): Promise<number> {
  const { waiting } = await db
    .selectFrom('notifications')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('target', '=', name)
    .where('next_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return Number(waiting);
}

interface Planned {
  readonly target: NotifyTarget;
  readonly event: NotifyEventRow;
  readonly call: Selectable<CallRow> | undefined;
  readonly entityId?: string | undefined;
}

async function insert(
  tx: Tx,
  { target, event, call, entityId }: Planned,
  end?: Pick<NotificationRow, 'status' | 'error'>,
): Promise<void> {
  const now = tx.now();
  const { id: event_id, due_at: _due, ...about } = event;
  const until = Math.min(now + target.linkMs, call?.expires_at ?? Number.POSITIVE_INFINITY);
  await tx.db
    .insertInto('notifications')
    .values({
      ...about,
      id: newId(now),
      event_id,
      project_id: target.project,
      target: target.name,
      entity_id: entityId ?? null,
      ...(end ?? { status: 'pending', error: null }),
      attempts: 0,
      next_at: end === undefined ? now : null,
      created_at: now,
      sent_at: null,
      link_expires_at: call === undefined || entityId === undefined ? null : until,
      link_used_at: null,
    })
    .execute();
}
