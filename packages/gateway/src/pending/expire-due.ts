import type { Services } from '../services.ts';
import { updateCard } from '../spaces/tool-card.ts';
import type { Tx } from '../store/store.ts';
import { type PendingCall, toPendingCall } from './pending-call.ts';
import { lockPending, tellEnd } from './settle-pending.ts';

export interface ExpireOptions {
  /** Default: of all agents. */
  readonly agentId?: string;
  /** Default: the clock of the database. */
  readonly now?: number;
}

/** In one look. */
const PAGE = 200;

/** Ends calls that nobody answered in time, each in a transaction of its own. Gives how many. */
export async function expireDue(services: Services, { agentId, now }: ExpireOptions = {}): Promise<number> {
  const at = now ?? (await services.store.transaction(async (tx) => tx.now()));
  let expired = 0;
  for (let after = ''; ; ) {
    const ids = await dueCalls(services, { agentId, at, after });
    for (const id of ids) if (await expireOne(services, id, at)) expired += 1;
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE) return expired;
    after = last;
  }
}

/** The call's end, its card and the event that tells the agent. */
export async function expire(services: Services, tx: Tx, call: PendingCall, at: number): Promise<void> {
  await tx.db
    .updateTable('pending_calls')
    .set({ status: 'expired', resolved_at: at })
    .where('call_id', '=', call.callId)
    .execute();
  await updateCard(services, tx, call.callId, { status: 'expired' });
  await tellEnd(services, tx, call, { status: 'expired' });
}

export function isOver({ status, expiresAt }: PendingCall, now: number): boolean {
  return status === 'pending' && expiresAt !== undefined && expiresAt <= now;
}

async function expireOne(services: Services, callId: string, at: number): Promise<boolean> {
  return await services.store.transaction(async (tx) => {
    const row = await lockPending(tx, callId, { skipLocked: true });
    const call = row === undefined ? undefined : toPendingCall(row);
    if (call === undefined || !isOver(call, at)) return false;
    await expire(services, tx, call, at);
    return true;
  });
}

async function dueCalls(
  { store }: Services,
  { agentId, at, after }: { agentId: string | undefined; at: number; after: string },
): Promise<string[]> {
  const due = store.db
    .selectFrom('pending_calls')
    .select('call_id')
    .where('status', '=', 'pending')
    .where('expires_at', '<=', at)
    .where('call_id', '>', after)
    .orderBy('call_id')
    .limit(PAGE);
  const rows = await (agentId === undefined ? due : due.where('agent_id', '=', agentId)).execute();
  return rows.map(({ call_id }) => call_id);
}
