import type { Kysely } from 'kysely';
import type { Services } from '../../ports/services.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { type Params, searchStatement } from '../../ports/store/statement.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import { doEach } from '../do-each.ts';
import { updateCard } from '../spaces/tool-card.ts';
import { IS_PENDING } from './is-waiting.ts';
import { tellJobEnded } from './job-events.ts';
import { endOfWait, type LockedWait, lockWaiting, pushCallEnd } from './settle-waiting.ts';
import { toWaitingCall, type WaitingCall } from './waiting-call.ts';

export interface ExpireOptions {
  /** Default: all agents. */
  readonly agentId?: string;
  /** Default: the clock of the database. */
  readonly now?: number;
}

/** The number of calls that are read at once. */
const PAGE_SIZE = 200;

/** Expires calls that were not answered in time, each in a separate transaction. Returns how many. */
export async function expireDue(
  services: Pick<Services, 'store' | 'logger'>,
  { agentId, now }: ExpireOptions = {},
): Promise<number> {
  const { store } = services;
  const at = now ?? (await store.transaction(async (tx) => tx.now()));
  let expired = 0;
  for (let after: PagePosition = START; ; ) {
    const due = await dueCalls(store, { agentId, at, after });
    expired += await doEach(services, due, {
      failed: ({ id }) => `Call ${id} could not be expired`,
      work: ({ id }) => expireOne(store, id, at),
    });
    const last = due.at(-1);
    if (last === undefined || due.length < PAGE_SIZE) return expired;
    after = last;
  }
}

/** Where the last page ended. Calls that it skipped, because they are just being answered, are not read again. */
interface PagePosition {
  readonly expires_at: number;
  readonly id: string;
}

const START: PagePosition = { expires_at: Number.MIN_SAFE_INTEGER, id: '' };

/** Writes the call's end, its card and the event for the agent. */
export async function expire(tx: Tx, row: LockedWait, at: number): Promise<void> {
  const call = toWaitingCall(row);
  await tx.db
    .updateTable('calls')
    .set(endOfWait(row, 'expired', { now: at, callStatus: 'expired' }))
    .where('id', '=', call.callId)
    .execute();
  await updateCard(tx, call.callId, { status: 'expired' });
  tellJobEnded(tx, call, 'expired');
  await pushCallEnd(tx, row, { status: 'expired' });
}

export function isOver({ status, expiresAt }: WaitingCall, now: number): boolean {
  return status === 'pending' && expiresAt !== undefined && expiresAt <= now;
}

async function expireOne(store: Store, callId: string, at: number): Promise<boolean> {
  return await store.transaction(async (tx) => {
    const row = await lockWaiting(tx, callId, { skipLocked: true });
    if (row === undefined || !isOver(toWaitingCall(row), at)) return false;
    await expire(tx, row, at);
    return true;
  });
}

async function dueCalls(
  { db }: Store,
  { agentId, at, after }: { agentId: string | undefined; at: number; after: PagePosition },
): Promise<PagePosition[]> {
  const values = { at, expiresAt: after.expires_at, id: after.id };
  const rows = await (agentId === undefined
    ? dueOfAll(db, values)
    : selectDue(db, values).where('agent_id', '=', agentId).execute());
  return rows.flatMap(({ id, expires_at }) => (expires_at === null ? [] : [{ id, expires_at }]));
}

interface DueValues {
  readonly at: number;
  readonly expiresAt: number;
  readonly id: string;
}

const dueOfAll = searchStatement((db, values: Params<DueValues>) => selectDue(db, values));

function selectDue(db: Kysely<Tables>, { at, expiresAt, id }: DueValues | Params<DueValues>) {
  return db
    .selectFrom('calls')
    .select(['id', 'expires_at'])
    .where(IS_PENDING)
    .where('expires_at', '<=', at)
    .where('expires_at', '>=', expiresAt)
    .where((eb) => eb.or([eb('expires_at', '>', expiresAt), eb('id', '>', id)]))
    .orderBy('expires_at')
    .orderBy('id')
    .limit(PAGE_SIZE);
}
