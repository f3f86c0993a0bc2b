import type { NotifyEventRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { WaitKind } from '../calls/waiting-call.ts';
import { newId } from '../new-id.ts';

/** A call that begins to wait. */
export interface NotedWait {
  readonly callId: string;
  readonly agentId: string;
  readonly runId: string;
  readonly kind: WaitKind;
  readonly spaceId?: string | null | undefined;
  readonly answeredBy?: unknown;
  readonly expiresAt?: number | undefined;
  readonly isJob?: boolean | undefined;
  readonly round: number;
}

const HOUR_MS = 3_600_000;

/** How long before its end a call is about to expire: an hour, or half of a shorter time. */
function expiryLead(waitsMs: number): number {
  return Math.min(HOUR_MS, Math.floor(waitsMs / 2));
}

/**
 * Stores that people may have to be notified of a call that waits, in the transaction in which it begins to wait. Targets are looked up
 * later, by notify/plan-notifications.ts. Without targets this does nothing.
 */
export async function noteWait(tx: Tx, wait: NotedWait): Promise<void> {
  if (tx.limits.pendingNotifications === 0 || !waitsForPerson(wait)) return;
  const now = tx.now();
  const { callId, agentId, runId, round, expiresAt } = wait;
  const noted = { call_id: callId, agent_id: agentId, run_id: runId, round, scope: null, scope_id: null };
  await insert(tx, { ...noted, event: 'call.waiting', due_at: now });
  if (expiresAt !== undefined && expiresAt > now)
    await insert(tx, { ...noted, event: 'call.expiring', due_at: expiresAt - expiryLead(expiresAt - now) });
}

/** Jobs are for workers, and a result that only the caller of a conversation can give is for a program. */
function waitsForPerson({ kind, isJob, spaceId, answeredBy }: NotedWait): boolean {
  if (kind !== 'result') return true;
  return isJob !== true && (spaceId != null || answeredBy !== undefined);
}

/** Stores that a run of the agent failed and is not tried again. */
export async function noteFailure(tx: Tx, failed: { readonly agentId: string; readonly runId: string }): Promise<void> {
  if (tx.limits.pendingNotifications === 0) return;
  const { agentId, runId } = failed;
  const none = { call_id: null, round: 0, scope: null, scope_id: null };
  await insert(tx, { ...none, event: 'agent.failed', agent_id: agentId, run_id: runId, due_at: tx.now() });
}

export interface NotedLimit {
  readonly agentId: string;
  readonly runId: string;
  /** Whose limit it is. */
  readonly scope: 'agent' | 'person' | 'project';
  readonly scopeId: string;
}

/** Stores that a limit of the day was reached. */
export async function noteLimit(tx: Tx, { agentId, runId, scope, scopeId }: NotedLimit): Promise<void> {
  if (tx.limits.pendingNotifications === 0) return;
  const limit = { scope, scope_id: scopeId, call_id: null, round: 0 };
  await insert(tx, { ...limit, event: 'limit.reached', agent_id: agentId, run_id: runId, due_at: tx.now() });
}

async function insert(tx: Tx, row: Omit<NotifyEventRow, 'id'>): Promise<void> {
  await tx.db
    .insertInto('notify_events')
    .values({ id: newId(tx.now()), ...row })
    .execute();
}
